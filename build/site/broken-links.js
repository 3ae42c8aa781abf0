import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Links of the built pages, including anchors and images, that lead nowhere within the site: `page -> target`. */
export function brokenLinks(folder) {
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.html'),
  )
  const texts = new Map(pages.map((page) => [page, readFileSync(join(folder, page), 'utf8')]))
  const anchors = new Map([...texts].map(([page, text]) => [page, new Set(valuesOf(text, 'id'))]))
  return [...texts].flatMap(([page, text]) =>
    [...valuesOf(text, 'href'), ...valuesOf(text, 'src')]
      .filter((target) => !/^(?:[a-z]+:|\/\/)/.test(target))
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
  const file = path === '' ? page : path.startsWith('/') ? path.slice(1) : join(dirname(page), path)
  const found = file === '' || file.endsWith('/') ? `${file}index.html` : file
  if (anchor === undefined || anchor === '') return existsSync(join(folder, found))
  return anchors.get(found)?.has(decodeURIComponent(anchor)) ?? false
}
