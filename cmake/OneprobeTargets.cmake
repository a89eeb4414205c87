# What every target we build ourselves has in common: warnings and sanitizers. Both are build-only: a project that
# uses the library sees neither.

add_library(oneprobe_build_flags INTERFACE)

# -Wnull-dereference is left out: with optimisation g++ 12 reports it inside its own standard library.
target_compile_options(
  oneprobe_build_flags
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Wsign-conversion
            -Wold-style-cast
            -Wnon-virtual-dtor
            -Woverloaded-virtual
            $<$<BOOL:${ONEPROBE_WARNINGS_AS_ERRORS}>:-Werror>
)

if(ONEPROBE_SANITIZE)
  target_compile_options(
    oneprobe_build_flags INTERFACE -fsanitize=${ONEPROBE_SANITIZE} -fno-sanitize-recover=all
                                   -fno-omit-frame-pointer
  )
  target_link_options(oneprobe_build_flags INTERFACE -fsanitize=${ONEPROBE_SANITIZE})
endif()

# oneprobe_add_library(<part> <source>...)
#
# A compiled part of the library: target oneprobe_<part>, used as oneprobe::<part>, installed and exported under that name.
function(oneprobe_add_library part)
  set(target oneprobe_${part})
  add_library(${target} STATIC ${ARGN})
  add_library(oneprobe::${part} ALIAS ${target})
  target_link_libraries(
    ${target}
    PUBLIC oneprobe
    PRIVATE $<BUILD_INTERFACE:oneprobe_build_flags>
  )
  # Position-independent and hidden so that it can be linked into a plug-in, which then shows nothing of it.
  set_target_properties(
    ${target} PROPERTIES EXPORT_NAME ${part} POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                         VISIBILITY_INLINES_HIDDEN ON
  )
  set_property(GLOBAL APPEND PROPERTY ONEPROBE_COMPILED_PARTS ${part})
endfunction()
