import { Option } from 'commander'
import type { Command } from 'commander'

import { wrongUse } from './session.js'
import { readIsoTime } from '../../lib/clocks/iso-time.js'

/** The flags of a command that shows a list page by page. */
export interface PageOptions {
  readonly limit: string
  readonly cursor?: string
}

/** The flags that limit a list to a window of time, as the service is asked: ISO 8601 in UTC. */
export interface RangeOptions {
  readonly since?: string
  readonly until?: string
}

/** How many entries a page has that is not asked for otherwise, as in the API. */
const DEFAULT_LIMIT = '50'

/** Adds the flags that say which page of a list is shown. */
export function addPageOptions(command: Command): Command {
  return command
    .option('--limit <n>', 'how many at most', DEFAULT_LIMIT)
    .option('--cursor <cursor>', 'go on where an earlier list ended')
}

/** Adds the flags that limit a list to a window of time. A window that ends before it begins is a wrong use: it would hold nothing. */
export function addRangeOptions(command: Command): Command {
  command.hook('preAction', (_, acting) => {
    const { since, until } = acting.opts<RangeOptions>()
    if (since !== undefined && until !== undefined && until <= since)
      throw wrongUse(`--until (${until}) must be after --since (${since})`)
  })
  return command
    .addOption(
      timeOption('--since <time>', 'not before this time (2026-01-31T12:00, or how long ago: 2h, 7d)'),
    )
    .addOption(timeOption('--until <time>', 'before this time'))
}

/** A flag that takes a time, and gives it as ISO 8601 in UTC. */
export function timeOption(flags: string, description: string): Option {
  const [flag = ''] = flags.split(' ')
  return new Option(flags, description).argParser((text: string) =>
    new Date(instantOf(flag, text, Date.now())).toISOString(),
  )
}

/** What stands below a page that is not the last one. */
export function moreText(nextCursor: string | undefined): string {
  return nextCursor === undefined ? '' : `more: --cursor ${nextCursor}\n`
}

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
