import { Client } from 'pg'
import { AppError, toError } from '../../../errors/app-error.js'
import { clientConfig } from './client-config.js'
import { endNow } from './end-client.js'
import { STORE_AWAY } from './postgres-error.js'
import type { PostgresHost, PostgresSettings } from './postgres-settings.js'

/** A reachable server. */
interface FoundHost extends PostgresHost {
  /**
   * Number of the timeline, which grows with each promotion
   * (postgresql.org/docs/15/continuous-archiving.html, 26.3.5). 0 for a standby.
   */
  readonly timeline: number
}

type CheckedHost = FoundHost | { readonly problem: string }

const CHECK_TIMEOUTS = { statementMs: 3000 }
/** Pause before all hosts are checked again after none was usable. */
const PAUSE_MS = 500
/** The name of a WAL file starts with its timeline in eight hex digits. */
const TIMELINE = `select case when pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' then '0'
  else left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`

/**
 * Chooses one of several hosts: the one that accepts writes, of two the one promoted last, and
 * never one with an older timeline than this process has seen. A single host is used without a
 * check.
 */
export class HostChoice {
  readonly #settings: PostgresSettings
  readonly #hosts: readonly PostgresHost[]
  #chosen: PostgresSettings | undefined
  #checking: Promise<PostgresSettings> | undefined
  #timeline = 0

  constructor(settings: PostgresSettings) {
    const { host, port, otherHosts = [] } = settings
    this.#settings = settings
    this.#hosts = [{ host, port }, ...otherHosts]
    if (otherHosts.length === 0) this.#chosen = settings
  }

  /** Returns the settings of the chosen host. Raises AppError `unavailable`. */
  async settings(): Promise<PostgresSettings> {
    if (this.#chosen !== undefined) return this.#chosen
    this.#checking ??= this.#checkHosts()
    return await this.#checking
  }

  /** Makes the next connection check all hosts again. Does nothing for a single host. */
  recheck(): void {
    if (this.#hosts.length > 1) this.#chosen = undefined
  }

  async #checkHosts(): Promise<PostgresSettings> {
    try {
      const checked = await Promise.all(this.#hosts.map((host) => this.#checkHost(host)))
      const { host, port } = this.#choose(checked)
      this.#chosen = { ...this.#settings, host, port }
      this.#checking = undefined
      return this.#chosen
    } catch (raw) {
      setTimeout(() => (this.#checking = undefined), PAUSE_MS).unref()
      throw raw
    }
  }

  #choose(checked: readonly CheckedHost[]): PostgresHost {
    const found = checked.filter((each): each is FoundHost => 'timeline' in each)
    const [newest] = found.toSorted((one, other) => other.timeline - one.timeline)
    if (newest !== undefined && newest.timeline > 0 && newest.timeline >= this.#timeline) {
      this.#timeline = newest.timeline
      return newest
    }
    if (newest?.timeline === 0 && this.#settings.takesStandby === true) return newest
    const reasons = this.#hosts.map(
      ({ host, port }, index) => `${host}:${port} ${this.#reason(checked[index])}`,
    )
    throw new AppError(
      'unavailable',
      `PostgreSQL: no host of store.url accepts writes: ${reasons.join('; ')}`,
      {
        code: STORE_AWAY,
      },
    )
  }

  #reason(checked: CheckedHost | undefined): string {
    if (checked === undefined || 'problem' in checked) return `cannot be reached (${checked?.problem ?? ''})`
    if (checked.timeline === 0) return 'is a standby'
    return `is an outdated primary (timeline ${checked.timeline}, newest known ${this.#timeline}): stop it`
  }

  async #checkHost({ host, port }: PostgresHost): Promise<CheckedHost> {
    const client = new Client(clientConfig({ ...this.#settings, host, port }, CHECK_TIMEOUTS))
    client.on('error', () => undefined)
    try {
      await client.connect()
      const { rows } = await client.query<{ timeline: string }>(TIMELINE)
      return { host, port, timeline: Number.parseInt(rows[0]?.timeline ?? '0', 16) }
    } catch (raw) {
      return { problem: toError(raw).message }
    } finally {
      endNow(client)
    }
  }
}
