import { escapeHtml } from './escape-html.js'

/** Minimum number of headings for a table of contents. */
const WORTH_LISTING = 3

/**
 * Returns the HTML document of a page with the menu of all pages and, if it is long, a table of
 * contents.
 */
export function layOut({ url, title, html, sections }, pages, groups) {
  const menu = groups.map(([name, sources]) => {
    const links = sources.map((source) =>
      linkTo(
        pages.find((page) => page.source === source),
        url,
      ),
    )
    return `<h2>${escapeHtml(name)}</h2><ul>${links.join('')}</ul>`
  })
  const headings = sections.filter(({ floor }) => floor === 2)
  const contents = headings.map(({ id, heading }) => `<li><a href="#${id}">${escapeHtml(heading)}</a></li>`)
  const isLong = headings.length >= WORTH_LISTING
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title === 'Tidegate' ? title : `${title} - Tidegate`)}</title><link rel="stylesheet" href="style.css">
<script defer src="search-index.js"></script><script defer src="search.js"></script></head>
<body><header><a class="home" href="index.html">Tidegate</a>
<div class="search"><input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" hidden><ol id="found" hidden></ol></div></header>
<div class="columns"><nav aria-label="Pages"><details id="menu" open><summary>All pages</summary>${menu.join('')}</details></nav>
<main>${isLong ? withContents(html, contents) : html}</main></div></body></html>
`
}

function withContents(html, contents) {
  const list = `<details class="contents"><summary>On this page</summary><ul>${contents.join('')}</ul></details>`
  return html.replace('</h1>', `</h1>${list}`)
}

function linkTo({ url, title }, here) {
  const current = url === here ? ' aria-current="page"' : ''
  return `<li><a href="${url}"${current}>${escapeHtml(url === 'index.html' ? 'Overview' : title)}</a></li>`
}
