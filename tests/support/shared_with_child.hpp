// Memory that a process and its children share.
//
//   shared_with_child<std::atomic<int>> done;
//   if (::fork() == 0) { for (;;) work(), ++*done; }
//   while (*done == 0) ...
#pragma once

#include <sys/mman.h>

#include <new>

namespace oneprobe {

template <class T>
class shared_with_child {
 public:
  shared_with_child()
      : memory_(
            ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    ::new (memory_) T();
  }
  shared_with_child(const shared_with_child&) = delete;
  shared_with_child& operator=(const shared_with_child&) = delete;
  ~shared_with_child() { ::munmap(memory_, sizeof(T)); }
  T& operator*() { return *static_cast<T*>(memory_); }

 private:
  void* memory_;
};

}  // namespace oneprobe
