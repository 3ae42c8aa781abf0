import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

import { AppError } from '../../errors/app-error.js'
import type { StoredRun } from '../../store/ports/analysis-store.js'

/**
 * Identity of a run, which also differs from a later run that reuses the number after a restore.
 */
export type LinkedRun = Pick<StoredRun, 'id' | 'startedMs' | 'plan'>

export interface ReportLinksOptions {
  /** Returns the signing secret. Called only to sign or check a link. */
  readonly key: () => string
  /** Minimum lifetime of a link, in milliseconds. */
  readonly maxAgeMs: number
}

const MS_PER_DAY = 86_400_000
/** Expiry in epoch milliseconds, then HMAC-SHA-256 in base64url. */
const TOKEN = /^(?<end>[1-9]\d{0,15})-[\w-]{43}$/

/**
 * Tokens in report links. The holder of a token can read the report of one run until the token
 * expires.
 */
export class ReportLinks {
  readonly #options: ReportLinksOptions

  constructor(options: ReportLinksOptions) {
    this.#options = options
  }

  /**
   * Issues a token for the run. It expires at midnight UTC, so a polling client gets the same link
   * all day.
   */
  issue(run: LinkedRun, nowMs: number): string {
    const endMs = Math.ceil((nowMs + this.#options.maxAgeMs) / MS_PER_DAY) * MS_PER_DAY
    return this.#sign(run, String(endMs))
  }

  /**
   * Raises `forbidden` if the token does not belong to this run or has expired. The run may be
   * unknown.
   */
  check(run: LinkedRun | undefined, token: string, nowMs: number): void {
    const end = TOKEN.exec(token)?.groups?.['end']
    if (run === undefined || end === undefined || !isSame(token, this.#sign(run, end))) throw noLink()
    if (nowMs < Number(end)) return
    throw new AppError(
      'forbidden',
      `This report link for analysis ${run.id} expired at ${new Date(Number(end)).toISOString()}. Get a new one from GET /autopilot/v5/canaries/${run.id}, or read GET /analysis/${run.id} with a token.`,
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
  return new AppError(
    'forbidden',
    'This link does not lead to a report. Use the link in the status of the analysis.',
  )
}
