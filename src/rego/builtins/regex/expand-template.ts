import type { WorkMeter } from '../../metering/work-meter.js'
import { ensureResultLength } from '../shared/call-costs.js'
import type { Match } from './find-matches.js'

/** A piece of a replacement template: text as it is, or a group of the match. */
type Piece = { readonly text: string } | { readonly group: number | string }

/** Steps of putting in one piece; of one that is read out of the template. */
const PIECE_STEPS = 10
const REFERENCE_STEPS = 40

const REFERENCE = /\$(?:\$|([\p{L}\p{Nd}_]+)|\{([\p{L}\p{Nd}_]+)\})/gu

/**
 * Reads Go's replacement syntax (`$1`, `$name` with the longest name, `${name}`, `$$`; any other `$` is text) and gives
 * what makes the replacement for a match, which ends the evaluation when it grows too long.
 */
export function parseTemplate(template: string, meter: WorkMeter): (match: Match) => string {
  const pieces: Piece[] = []
  let at = 0
  for (const reference of template.matchAll(REFERENCE)) {
    meter.spend(REFERENCE_STEPS)
    pieces.push({ text: template.slice(at, reference.index) })
    const name = reference[1] ?? reference[2]
    pieces.push(name === undefined ? { text: '$' } : { group: /^\d+$/.test(name) ? Number(name) : name })
    at = reference.index + reference[0].length
  }
  pieces.push({ text: template.slice(at) })
  return (match) => expand(pieces, match, meter)
}

function expand(pieces: readonly Piece[], match: Match, meter: WorkMeter): string {
  let result = ''
  for (const piece of pieces) {
    meter.spend(PIECE_STEPS)
    result += 'text' in piece ? piece.text : match.group(piece.group)
    ensureResultLength(result.length, meter)
  }
  return result
}
