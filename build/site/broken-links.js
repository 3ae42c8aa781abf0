import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns all links of the built pages, including anchors and images, whose target is missing in
 * the site: `page -> target`.
 */
export function brokenLinks(folder) {
  const pages = readdirSync(folder).filter((file) => file.endsWith('.html'))
  const texts = new Map(pages.map((page) => [page, readFileSync(join(folder, page), 'utf8')]))
  const anchors = new Map([...texts].map(([page, text]) => [page, new Set(valuesOf(text, 'id'))]))
  return [...texts].flatMap(([page, text]) =>
    [...valuesOf(text, 'href'), ...valuesOf(text, 'src')]
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => !leadsSomewhere(target, page, anchors, folder))
      .map((target) => `${page} -> ${target}`),
  )
}

function valuesOf(text, attribute) {
  return [...text.matchAll(new RegExp(`<[a-z][^>]*?\\s${attribute}="([^"]*)"`, 'g'))].map(
    ([, value]) => value,
  )
}

function leadsSomewhere(target, page, anchors, folder) {
  const [path, anchor] = target.split('#')
  const file = path === '' ? page : path
  if (anchor === undefined || anchor === '') return existsSync(join(folder, file))
  return anchors.get(file)?.has(decodeURIComponent(anchor)) ?? false
}
