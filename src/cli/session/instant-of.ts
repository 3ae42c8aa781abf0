import { readIsoTime } from '../../lib/clocks/iso-time.js'
import { wrongUse } from './session.js'

const AGO = /^(\d{1,6})(m|h|d|w)$/
const MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/**
 * A time as a person writes it, in milliseconds since the epoch: ISO 8601, in the person's zone (TZ) where it names none, or how long ago it
 * was, `90m`, `2h`, `7d`, `4w`. Raises a wrong use of the flag for anything else.
 */
export function instantOf(flag: string, text: string, nowMs: number): number {
  const [, amount, unit = ''] = AGO.exec(text) ?? []
  if (amount !== undefined) return nowMs - Number(amount) * (MS[unit] ?? 0)
  const ms = readIsoTime(text, 'local')
  if (!Number.isNaN(ms)) return ms
  throw wrongUse(
    `${flag} must be a time such as 2026-01-31T12:00:00Z, not '${text}'; or how long ago, such as 2h or 7d`,
  )
}
