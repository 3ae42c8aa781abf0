/**
 * Finds sections that contain all words of a query, first by heading, then by text. The pages also
 * work without this script.
 */
const MOST = 12
const field = document.getElementById('search')
const list = document.getElementById('found')
const menu = document.getElementById('menu')
field.hidden = false

const entries = window.sections.map(([url, page, heading, text]) => ({
  ...{ url, page, heading, text },
  headingWords: `${page} ${heading}`.toLowerCase(),
  words: `${page} ${heading} ${text}`.toLowerCase(),
}))

function find(question) {
  const words = question.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  return entries
    .filter((entry) => words.every((word) => entry.words.includes(word)))
    .map((entry) => ({ entry, score: words.filter((word) => entry.headingWords.includes(word)).length }))
    .sort((one, other) => other.score - one.score)
    .slice(0, MOST)
    .map(({ entry }) => ({ ...entry, excerpt: excerptOf(entry.text, words[0]) }))
}

function excerptOf(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 40)
  return `${at > 0 ? '…' : ''}${text.slice(at, at + 140)}${text.length > at + 140 ? '…' : ''}`
}

function show() {
  const found = find(field.value)
  const items = found.map(({ url, page, heading, excerpt }) => {
    const link = Object.assign(document.createElement('a'), { href: url })
    const small = Object.assign(document.createElement('small'), { textContent: excerpt })
    link.append(page === heading ? page : `${page}: ${heading}`, small)
    const item = document.createElement('li')
    item.append(link)
    return item
  })
  list.replaceChildren(...items)
  if (items.length === 0)
    list.append(Object.assign(document.createElement('li'), { textContent: 'Nothing found.' }))
  list.hidden = field.value.trim() === ''
}

field.addEventListener('input', show)
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') list.hidden = true
  if (event.key === '/' && document.activeElement !== field) {
    event.preventDefault()
    field.focus()
  }
  if (event.key === 'Enter' && document.activeElement === field) list.querySelector('a')?.click()
})
document.addEventListener('click', (event) => {
  if (!event.target.closest('.search') || event.target.closest('a')) list.hidden = true
})
// The menu is closed where it is above the page.
menu.open = matchMedia('(min-width: 56rem)').matches
