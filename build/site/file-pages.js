import { readFileSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { escapeHtml } from './escape-html.js'

/** Location of the page for a file of the project. */
export function fileUrl(path) {
  return `files-${path.replaceAll('/', '-')}.html`.toLowerCase()
}

/** Pages that show linked files and folders of the project. */
export function filePages(root, paths) {
  const pages = new Map()
  const add = (path) => {
    if (pages.has(path)) return
    const isFolder = statSync(join(root, path)).isDirectory()
    const inside = isFolder ? readdirSync(join(root, path)).map((name) => `${path}/${name}`) : []
    const list = inside.map((each) => `<li><a href="${fileUrl(each)}">${escapeHtml(basename(each))}</a></li>`)
    const body = isFolder
      ? `<ul>${list.join('')}</ul>`
      : `<pre><code>${escapeHtml(readFileSync(join(root, path), 'utf8'))}</code></pre>`
    pages.set(path, {
      url: fileUrl(path),
      title: path,
      sections: [],
      html: `<h1>${escapeHtml(path)}</h1>${body}`,
    })
    inside.forEach(add)
  }
  paths.forEach(add)
  return [...pages.values()]
}
