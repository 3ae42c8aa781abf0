import type { Match } from './find-matches.js'

/** A piece of a replacement template: text as it is, or a group of the match. */
type Piece = { readonly text: string } | { readonly group: number | string }

const REFERENCE = /\$(?:\$|([\p{L}\p{Nd}_]+)|\{([\p{L}\p{Nd}_]+)\})/gu

/** Reads Go's replacement syntax: `$1`, `$name` (the longest name), `${name}` and `$$`; any other `$` is text. */
export function parseTemplate(template: string): (match: Match) => string {
  const pieces: Piece[] = []
  let at = 0
  for (const reference of template.matchAll(REFERENCE)) {
    pieces.push({ text: template.slice(at, reference.index) })
    const name = reference[1] ?? reference[2]
    pieces.push(name === undefined ? { text: '$' } : { group: /^\d+$/.test(name) ? Number(name) : name })
    at = reference.index + reference[0].length
  }
  pieces.push({ text: template.slice(at) })
  return (match) => pieces.map((piece) => ('text' in piece ? piece.text : match.group(piece.group))).join('')
}
