import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

import { AppError } from '../../errors/app-error.js'
import type { StoredRun } from '../../store/ports/analysis-store.js'

/** What tells a run from every other, also from the one that has its number after the database was restored. */
export type LinkedRun = Pick<StoredRun, 'id' | 'startedMs' | 'plan'>

export interface ReportLinksOptions {
  /** The secret that links are signed with; asked for only when there is something to sign. */
  readonly key: () => string
  /** How long a link leads to its report at least. */
  readonly maxAgeMs: number
}

const MS_PER_DAY = 86_400_000
/** The end in milliseconds since the epoch, and HMAC-SHA-256 as Base64 for URLs. */
const TOKEN = /^(?<end>[1-9]\d{0,15})-[\w-]{43}$/

/** The tokens in the links of reports: whoever holds one may read the report of one run until it ends. */
export class ReportLinks {
  readonly #options: ReportLinksOptions

  constructor(options: ReportLinksOptions) {
    this.#options = options
  }

  /** A token for the run. It ends at midnight UTC, so that who polls sees the same link all day. */
  issue(run: LinkedRun, nowMs: number): string {
    const endMs = Math.ceil((nowMs + this.#options.maxAgeMs) / MS_PER_DAY) * MS_PER_DAY
    return this.#sign(run, String(endMs))
  }

  /** Raises `forbidden` for what is no token of this run, which may be unknown, and for one past its end. */
  check(run: LinkedRun | undefined, token: string, nowMs: number): void {
    const end = TOKEN.exec(token)?.groups?.['end']
    if (run === undefined || end === undefined || !isSame(token, this.#sign(run, end))) throw noLink()
    if (nowMs < Number(end)) return
    throw new AppError(
      'forbidden',
      `this link led to the report of analysis ${run.id} until ${new Date(Number(end)).toISOString()}: ask GET /autopilot/v5/canaries/${run.id} for a new one, or read GET /analysis/${run.id} with a token`,
      { code: 'report_link_expired' },
    )
  }

  #sign({ id, startedMs, plan }: LinkedRun, end: string): string {
    const digest = createHash('sha256').update(plan).digest('hex')
    const signed = `analysis ${id} ${startedMs} ${digest} ${end}`
    return `${end}-${createHmac('sha256', this.#options.key()).update(signed).digest('base64url')}`
  }
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function noLink(): AppError {
  return new AppError('forbidden', 'this link does not lead to a report: take it from the analysis itself')
}
