/**
 * Script of all pages. Pages work without it. It shows times in the viewer's time zone, keeps the
 * home page and running work up to date, prevents a form from being sent twice, and restores the
 * text typed before the session ended. One string, since the CSP
 * contains its hash.
 */
export const PAGE_SCRIPT = `'use strict'
const two = (number) => String(number).padStart(2, '0')
const localTimes = (root) => {
  for (const time of root.querySelectorAll('time')) {
    const at = new Date(time.dateTime)
    if (Number.isNaN(at.getTime())) continue
    const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-')
    time.textContent = day + ' ' + [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')
  }
}
const follow = (part, shown) => setTimeout(async () => {
  const answer = await fetch(part.dataset.refresh, { headers: { accept: 'text/html' } }).catch(() => undefined)
  const next = answer?.ok && new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById(part.id)
  if (!next) return part.append('Updates have stopped. Reload the page to continue.')
  const html = next.outerHTML
  localTimes(next)
  if (html !== shown) part.replaceWith(next)
  const current = html === shown ? part : next
  if (current.dataset.refresh) follow(current, html)
}, 2000)
for (const part of document.querySelectorAll('[data-refresh]')) follow(part, part.outerHTML)
localTimes(document)
const zone = document.querySelector('[data-zone]')
const aheadMinutes = -new Date().getTimezoneOffset()
const ahead = Math.abs(aheadMinutes)
const offset = (aheadMinutes < 0 ? '-' : '+') + two(Math.floor(ahead / 60)) + ':' + two(ahead % 60)
if (ahead > 0) zone.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone + ' (UTC' + offset + ')'
for (const form of document.querySelectorAll('form[method=post]')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent) event.preventDefault()
    // A download leaves the page as it is.
    if ('download' in (event.submitter?.dataset ?? {})) return
    form.dataset.sent = 'yes'
  })
}
const here = location.pathname + location.search
try {
  const unsent = document.querySelector('[data-unsent]')
  const kept = JSON.parse(sessionStorage.getItem('unsent') ?? 'null')
  if (unsent) {
    const fields = [...unsent.querySelectorAll('textarea')].map((field) => [field.name, field.value])
    sessionStorage.setItem('unsent', JSON.stringify({ page: unsent.dataset.unsent, fields }))
  } else if (kept?.page === here) {
    sessionStorage.removeItem('unsent')
    for (const [name, text] of kept.fields) {
      const field = document.querySelector('form[method=post] :is(textarea, input:not([type=hidden]), select)[name=' + CSS.escape(name) + ']')
      if (field?.value === '') field.value = text
    }
  }
} catch {} // Browsers may refuse to store.
addEventListener('pageshow', () => document.querySelectorAll('form').forEach((form) => delete form.dataset.sent))
const live = document.querySelector('[data-live]')
if (live && 'EventSource' in window) {
  const source = new EventSource(live.dataset.live)
  const state = document.querySelector('[data-live-state]')
  source.addEventListener('page', (event) => {
    const focused = document.activeElement.getAttribute('href')
    const parsed = new DOMParser().parseFromString(event.data, 'text/html')
    localTimes(parsed)
    live.replaceChildren(...parsed.body.childNodes)
    if (focused) [...live.querySelectorAll('a')].find((link) => link.getAttribute('href') === focused)?.focus()
  })
  source.addEventListener('end', () => {
    source.close()
    state.textContent = 'Updates have stopped. Reload the page to continue.'
  })
  source.addEventListener('open', () => { state.textContent = 'This page updates by itself.' })
  source.addEventListener('error', () => { state.textContent = 'Updates are interrupted. Reload the page to see the current state.' })
}
`
