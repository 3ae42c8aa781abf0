/**
 * `make site`: writes docs/, the README and the references as HTML into a folder (default `site/`).
 * The references of the command line and of the API come from the built program. Exits with 1 if a
 * link has no target.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { apiReference } from './api-reference.js'
import { brokenLinks } from './broken-links.js'
import { cliReference } from './cli-reference.js'
import { filePages } from './file-pages.js'
import { layOut } from './layout.js'
import { GROUPS, findPages } from './pages.js'
import { renderPage } from './render.js'

const ROOT = join(import.meta.dirname, '../..')
const OUT = process.argv[2] ?? join(ROOT, 'site')
/** The folder of the sources. A test uses a copy. */
const SOURCES = process.argv[3] ?? ROOT

const pages = findPages(SOURCES, {
  'cli-reference.html': await cliReference(ROOT),
  'api-reference.html': apiReference(ROOT),
})
const rendered = pages.map((page) => ({ ...page, ...renderPage(page, pages, SOURCES) }))
const files = filePages(
  SOURCES,
  rendered.flatMap(({ files }) => files),
)
const sections = rendered.flatMap(({ url, title, sections }) =>
  sections.map(({ id, heading, text }) => [`${url}#${id}`, title, heading, text]),
)

rmSync(OUT, { recursive: true, force: true })
const write = (url, text) => {
  mkdirSync(dirname(join(OUT, url)), { recursive: true })
  writeFileSync(join(OUT, url), text)
}
for (const page of [...rendered, ...files]) write(page.url, layOut(page, rendered, GROUPS))
for (const { url, bytes } of rendered.flatMap(({ images }) => images)) write(url, bytes)
write('search-index.js', `window.sections = ${JSON.stringify(sections)}\n`)
for (const name of ['style.css', 'search.js']) write(name, readFileSync(join(import.meta.dirname, name)))

const broken = brokenLinks(OUT)
for (const line of broken) process.stderr.write(`broken link: ${line}\n`)
if (broken.length === 0)
  process.stdout.write(`${rendered.length} pages, ${files.length} files: ${join(OUT, 'index.html')}\n`)
process.exitCode = broken.length === 0 ? 0 : 1
