"""How the pages of the website look: the page around a text, and its style."""

import os

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Oneprobe</title>
<link rel="stylesheet" href="{style}">
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<nav aria-label="Pages">
<details><summary><b>Oneprobe</b> {part}</summary>
{navigation}
</details>
</nav>
<main id="content">
{body}
<footer>{footer}</footer>
</main>
<script>
// Wide screens show the navigation; narrow ones fold it.
if (matchMedia("(min-width: 60rem)").matches) document.querySelector("nav details").open = true;
</script>
</body>
</html>
"""

STYLE = """:root { color-scheme: light dark; --ground: #fff; --ink: #1f2328; --quiet: #59636e; --edge: #d1d9e0; --shade: #f6f8fa; --link: #0969da }
@media (prefers-color-scheme: dark) {
  :root { --ground: #0d1117; --ink: #e6edf3; --quiet: #9198a1; --edge: #3d444d; --shade: #161b22; --link: #58a6ff }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif }
a { color: var(--link) }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
.skip { position: absolute; left: -99rem } .skip:focus { left: 1rem; top: 1rem; background: var(--ground); padding: .5rem }
nav { border-bottom: 1px solid var(--edge); background: var(--shade); padding: .75rem 1rem; font-size: .9rem }
nav summary { cursor: pointer }
nav h2 { font-size: .75rem; text-transform: uppercase; letter-spacing: .05em; color: var(--quiet); margin: 1.2rem 0 .3rem; border: 0; padding: 0 }
nav ul { list-style: none; margin: 0; padding: 0 } nav ul ul { padding-left: 1rem; border-left: 1px solid var(--edge) }
nav li a { display: block; padding: .2rem 0; text-decoration: none } nav li a:hover { text-decoration: underline }
nav a[aria-current] { font-weight: 600; color: var(--ink) }
main { padding: 1rem; max-width: 58rem; min-width: 0 }
h1, h2, h3 { line-height: 1.25; margin: 2rem 0 .75rem } h1 { margin-top: .5rem }
h2 { border-bottom: 1px solid var(--edge); padding-bottom: .3rem }
h1 .anchor, h2 .anchor, h3 .anchor, h4 .anchor { color: var(--quiet); text-decoration: none; margin-left: .4rem; opacity: 0; font-weight: 400 }
h1:hover .anchor, h2:hover .anchor, h3:hover .anchor, h4:hover .anchor, .anchor:focus { opacity: 1 }
code, pre { font: .875em/1.45 ui-monospace, monospace }
code { background: var(--shade); padding: .1em .3em; border-radius: 4px; overflow-wrap: anywhere }
pre { background: var(--shade); border: 1px solid var(--edge); border-radius: 6px; padding: .75rem; overflow-x: auto }
pre code { background: none; padding: 0; overflow-wrap: normal; font-size: 1em }
.wide { overflow-x: auto; margin: 1rem 0 }
table { border-collapse: collapse; font-size: .9rem } th, td { border: 1px solid var(--edge); padding: .35rem .6rem; text-align: left; vertical-align: top }
thead:not(:has(th:not(:empty))) { display: none }
[align=right] { text-align: right; font-variant-numeric: tabular-nums }
img { max-width: 100%; height: auto }
@media (max-width: 40rem) { p:has(> img) { overflow-x: auto } img { max-width: none; width: 42rem } }
footer { margin-top: 3rem; border-top: 1px solid var(--edge); padding-top: 1rem; display: flex; gap: 1rem; justify-content: space-between; flex-wrap: wrap }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 17rem minmax(0, 1fr) }
  nav { border-bottom: 0; border-right: 1px solid var(--edge); position: sticky; top: 0; height: 100vh; overflow-y: auto }
  main { padding: 1.5rem 3rem }
}
"""


def relative(target, page):
    """The address of one page from another, both relative to the root of the site."""
    return os.path.relpath(target, page.parent).replace(os.sep, "/")
