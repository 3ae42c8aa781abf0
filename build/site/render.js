import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import MarkdownIt from 'markdown-it'
import { fileUrl } from './file-pages.js'
import { makeSlugs } from './slugs.js'

/**
 * Returns a page as HTML: its title, second-level headings, sections for the search, images, and
 * linked files of the project that are not pages.
 */
export function renderPage({ source, markdown }, pages, root) {
  const markdownIt = new MarkdownIt({ html: false, linkify: false })
  const tokens = markdownIt.parse(markdown.replaceAll(/^<!--.*?-->$/gms, ''), {})
  const sections = nameHeadings(tokens)
  const found = { files: [], images: [] }
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    if (token.type === 'link_open')
      token.attrSet('href', targetOf(token.attrGet('href'), source, pages, root, found))
    if (token.type === 'image') token.attrSet('src', imageOf(token.attrGet('src'), source, root, found))
  }
  const html = markdownIt.renderer
    .render(tokens, markdownIt.options, {})
    .replaceAll('<table>', '<div class="table"><table>')
    .replaceAll('</table>', '</table></div>')
  return { html, title: sections[0]?.heading ?? source, sections, ...found }
}

/** Adds the anchors that GitHub gives to headings. Returns the text below each. */
function nameHeadings(tokens) {
  const slugOf = makeSlugs()
  const sections = []
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const heading = textOf(tokens[index + 1])
      const id = slugOf(heading)
      token.attrSet('id', id)
      sections.push({ id, heading, floor: Number(token.tag.slice(1)), text: '' })
    } else if (sections.length > 0 && tokens[index - 1]?.type !== 'heading_open') {
      const section = sections.at(-1)
      const text =
        token.type === 'inline'
          ? textOf(token)
          : ['fence', 'code_block'].includes(token.type)
            ? token.content
            : ''
      if (text !== '') section.text += `${text} `
    }
  }
  return sections
}

function textOf({ children, content }) {
  return (children ?? []).length === 0
    ? content
    : children.map((child) => child.content || (child.type === 'softbreak' ? ' ' : '')).join('')
}

/**
 * Links to Markdown lead to its page, and links to other files of the project to pages that show
 * them.
 */
function targetOf(href, source, pages, root, { files }) {
  if (/^(?:[a-z]+:|#)/.test(href)) return href
  const [path, anchor] = href.split('#')
  const target = normalize(join(dirname(source), path)).replace(/\/$/, '')
  const page = pages.find((each) => each.source === target)
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (page !== undefined) return `${page.url}${hash}`
  if (existsSync(join(root, target))) files.push(target)
  return fileUrl(target)
}

function imageOf(src, source, root, { images }) {
  const path = normalize(join(dirname(source), src))
  const url = path.replace(/^docs\//, '')
  if (existsSync(join(root, path))) images.push({ url, bytes: readFileSync(join(root, path)) })
  return url
}
