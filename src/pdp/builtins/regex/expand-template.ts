import { ensureResultLength } from '../result-limit.js'
import type { Match } from './find-matches.js'

/** A piece of a replacement template: text as it is, or a group of the match. */
type Piece = { readonly text: string } | { readonly group: number | string }

const REFERENCE = /\$(?:\$|([\p{L}\p{Nd}_]+)|\{([\p{L}\p{Nd}_]+)\})/gu

/**
 * Reads Go's replacement syntax (`$1`, `$name` with the longest name, `${name}`, `$$`; any other `$` is text) and gives
 * what makes the replacement for a match. That raises BuiltinError when it grows too long.
 */
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
  return (match) => expand(pieces, match)
}

function expand(pieces: readonly Piece[], match: Match): string {
  let result = ''
  for (const piece of pieces) {
    result += 'text' in piece ? piece.text : match.group(piece.group)
    ensureResultLength(result.length)
  }
  return result
}
