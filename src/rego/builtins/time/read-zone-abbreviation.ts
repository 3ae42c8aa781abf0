import { LayoutMismatch } from './time-text.js'
import type { TimeText } from './time-text.js'

/** The names that a layout's `MST` matches: three letters, four or five that end in T, and the exceptions that Go makes. */
const LETTERS = /^(?:ChST|MeST|[A-Z]{3,5}(?![A-Z]))/
const SIGNED_HOUR = /^[+-](\d+)/

/** Takes a zone abbreviation as Go recognises one: `CEST`, `GMT-8`, `+03`. Raises LayoutMismatch when there is none. */
export function readZoneAbbreviation(text: TimeText): string {
  const name = abbreviationAtStart(text.rest)
  if (name === undefined) throw new LayoutMismatch()
  return text.take(name.length)
}

function abbreviationAtStart(text: string): string | undefined {
  if (text.length < 3) return undefined
  if (text.startsWith('GMT')) return `GMT${signedHour(text.slice(3)) ?? ''}`
  if (text.startsWith('+') || text.startsWith('-')) return signedHour(text)
  const name = LETTERS.exec(text)?.[0]
  return name === undefined || name.length === 3 || name.endsWith('T') || name === 'WITA' ? name : undefined
}

function signedHour(text: string): string | undefined {
  const match = SIGNED_HOUR.exec(text)
  return match !== null && Number(match[1]) <= 23 ? match[0] : undefined
}
