import { Option } from 'commander'
import type { Command } from 'commander'

import { wrongUse } from './session.js'
import { readIsoTime } from '../../lib/clocks/iso-time.js'
export interface PageOptions {
  readonly limit: string
  readonly cursor?: string
}
export interface RangeOptions {
  readonly since?: string
  readonly until?: string
}

/** Default page size, as in the API. */
const DEFAULT_LIMIT = '50'

/** Adds the flags of paged lists. */
export function addPageOptions(command: Command): Command {
  return command
    .option('--limit <n>', 'maximum entries', DEFAULT_LIMIT)
    .option('--cursor <cursor>', 'continue after the page with this cursor')
}

/** Adds the flags of a time range. An empty range is a usage error. */
export function addRangeOptions(command: Command): Command {
  command.hook('preAction', (_, acting) => {
    const { since, until } = acting.opts<RangeOptions>()
    if (since !== undefined && until !== undefined && until <= since)
      throw wrongUse(`--until (${until}) must be after --since (${since})`)
  })
  return command
    .addOption(timeOption('--since <time>', 'start of the range (2026-01-31T12:00, or an age: 2h, 7d)'))
    .addOption(timeOption('--until <time>', 'end of the range, exclusive'))
}

/** Creates an option for a time, whose value is ISO 8601 in UTC. */
export function timeOption(flags: string, description: string): Option {
  const [flag = ''] = flags.split(' ')
  return new Option(flags, description).argParser((text: string) =>
    new Date(instantOf(flag, text, Date.now())).toISOString(),
  )
}

/**
 * Creates an option for a future time, whose value is ISO 8601 in UTC. A date begins at midnight in
 * UTC, as in the API.
 */
export function endOption(flags: string, description: string): Option {
  const [flag = ''] = flags.split(' ')
  return new Option(flags, description).argParser((text: string) => {
    const [, amount, unit = ''] = AGO.exec(text) ?? []
    const ms = amount === undefined ? readIsoTime(text, 'utc') : Date.now() + Number(amount) * (MS[unit] ?? 0)
    if (!Number.isNaN(ms)) return new Date(ms).toISOString()
    throw wrongUse(
      `${flag} must be a time such as 2027-01-31 or a duration such as 12h or 14d, not '${text}'`,
    )
  })
}

/** Returns the line after a page that is not the last. */
export function moreText(nextCursor: string | undefined): string {
  return nextCursor === undefined ? '' : `more: --cursor ${nextCursor}\n`
}

const AGO = /^(\d{1,6})(m|h|d|w)$/
const MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/**
 * Parses a time as epoch milliseconds: ISO 8601, in local time (TZ) if it names no zone, or an age
 * such as `90m`, `2h`, `7d`, `4w`. Raises `wrong_use` for anything else.
 */
function instantOf(flag: string, text: string, nowMs: number): number {
  const [, amount, unit = ''] = AGO.exec(text) ?? []
  if (amount !== undefined) return nowMs - Number(amount) * (MS[unit] ?? 0)
  const ms = readIsoTime(text, 'local')
  if (!Number.isNaN(ms)) return ms
  throw wrongUse(
    `${flag} must be a time such as 2026-01-31T12:00:00Z or an age such as 2h or 7d, not '${text}'`,
  )
}
