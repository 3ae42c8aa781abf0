/**
 * `make site`: builds the documentation with VitePress into a folder (site/, or the first argument)
 * from the pages of the project, or those of the second argument. Exits with 1 if a link, an anchor
 * or an image leads nowhere.
 */
import { join, resolve } from 'node:path'
import process from 'node:process'
import { brokenLinks } from './broken-links.js'

const [, , out = 'site', sources] = process.argv
const outDir = resolve(out)
if (sources !== undefined) process.env.SITE_SOURCES = resolve(sources)

const { build } = await import('vitepress')
await build(import.meta.dirname, { outDir })
const broken = brokenLinks(outDir)
for (const line of broken) process.stderr.write(`dead link: ${line}\n`)
if (broken.length === 0) process.stdout.write(`${join(outDir, 'index.html')}\n`)
process.exitCode = broken.length === 0 ? 0 : 1
