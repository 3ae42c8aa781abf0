import { SESSION_BOUNDS } from '../../ports/browser-sessions.js'
import type { BrowserSession, BrowserSessions, ListedSession } from '../../ports/browser-sessions.js'
import { MAX_REPORTS, REPORT_KEPT_MS } from '../../ports/instance-reports.js'
import type { InstanceReport, InstanceReports } from '../../ports/instance-reports.js'
import { requireWritable } from '../engine/migrate.js'
import { naming } from '../engine/postgres-error.js'
import type { Queries } from '../engine/session.js'
import { all, first, run } from '../engine/statements.js'
import { serviceSchema } from '../migrations/service.js'

const { longestMs, idleMs, ofToken, inAll } = SESSION_BOUNDS
const ago = (ms: number): string => `clock_timestamp() - interval '${ms} milliseconds'`
/** A session's time of use is updated at most this often. */
const NOTED_MS = 60_000
const HAS_NOT_ENDED = `began > ${ago(longestMs)} and used > ${ago(idleMs)}`
/**
 * Sessions beyond the limit, least recently used first, then by their start.
 */
const EXCESS = 'order by used desc, began desc offset'
type SessionRow = Omit<BrowserSession, 'account'> & {
  readonly account: string | null
  readonly is_noted: boolean
} & Record<string, unknown>

/**
 * Sessions of all processes that share a database. Signing in or out of one process applies to all.
 */
export function sharedSessions(queries: Queries): BrowserSessions {
  return {
    add: (key, session) => naming('sign in', () => add(queries, key, session)),
    use: (key, host) => naming('check the sign-in', () => use(queries, key, host)),
    replaceAccount: (key, account) =>
      naming('renew the sign-in', async () => {
        await requireWritable(queries, serviceSchema)
        await run(queries, 'update browser_sessions set account = $2 where key = $1', [key, account])
      }),
    list: () =>
      naming('list sessions', async () => {
        const rows = await all<ListedSession & Record<string, unknown>>(
          queries,
          `select key, token_name as "tokenName", account is not null as "isAccount",
             floor(extract(epoch from clock_timestamp() - began) * 1000)::float8 as "ageMs",
             floor(extract(epoch from clock_timestamp() - used) * 1000)::float8 as "idleMs"
           from browser_sessions where ${HAS_NOT_ENDED} order by began desc`,
        )
        return rows.map(({ key, tokenName, isAccount, ageMs, idleMs }) => ({
          ...{ key, tokenName, isAccount, ageMs, idleMs },
        }))
      }),
    removeAccounts: ({ sub, sid }) =>
      naming('end sign-ins', () =>
        all<Pick<ListedSession, 'key' | 'tokenName'> & Record<string, unknown>>(
          queries,
          `delete from browser_sessions where coalesce(account::jsonb ->> 'sid' = $2, account::jsonb ->> 'sub' = $1)
           returning key, token_name as "tokenName"`,
          [sub ?? null, sid ?? null],
        ),
      ),
    // Works with any schema: signing out must always succeed.
    remove: (key) =>
      naming('sign out', async () => {
        await run(queries, 'delete from browser_sessions where key = $1', [key])
      }),
  }
}

async function add(
  queries: Queries,
  key: string,
  { tokenName, tokenDigest, host, formToken, account }: BrowserSession,
): Promise<void> {
  await requireWritable(queries, serviceSchema)
  await run(queries, `delete from browser_sessions where not (${HAS_NOT_ENDED})`)
  await run(
    queries,
    `delete from browser_sessions where key in
       (select key from browser_sessions where token_name = $1 ${EXCESS} ${ofToken - 1})
     or key in (select key from browser_sessions ${EXCESS} ${inAll - 1})`,
    [tokenName],
  )
  await run(
    queries,
    `insert into browser_sessions (key, token_name, token_digest, host, form_token, account, began, used)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp(), clock_timestamp())`,
    [key, tokenName, tokenDigest, host, formToken, account ?? null],
  )
}

async function use(queries: Queries, key: string, host: string): Promise<BrowserSession | undefined> {
  const session = await first<SessionRow>(
    queries,
    `select token_name as "tokenName", token_digest as "tokenDigest", host, form_token as "formToken", account,
       used > ${ago(NOTED_MS)} as is_noted
     from browser_sessions where key = $1 and host = $2 and ${HAS_NOT_ENDED}`,
    [key, host],
  )
  if (session?.is_noted === false) {
    // A service that may no longer write still accepts signed-in browsers, until the session has
    // been idle for too long.
    await run(
      queries,
      `update browser_sessions set used = clock_timestamp()
       where key = $1 and (select oldest_writer from store_schema) <= $2`,
      [key, serviceSchema.version],
    )
  }
  return session && { ...session, account: session.account ?? undefined }
}

type ReportRow = Omit<InstanceReport, 'reportedBy'> & { readonly reportedBy: string | null } & Record<
    string,
    unknown
  >

/** The reports of all services that share a database, and of the instances that report to any of them. */
export function sharedReports(queries: Queries): InstanceReports {
  return {
    put: ({ id, status, reportedBy }) =>
      naming('store a status', async () => {
        await requireWritable(queries, serviceSchema)
        await run(
          queries,
          `insert into instance_reports (id, status, reported_by, reported) values ($1, $2, $3, clock_timestamp())
           on conflict (id) do update set status = $2, reported_by = $3, reported = clock_timestamp()`,
          [id, status, reportedBy ?? null],
        )
        await run(
          queries,
          `delete from instance_reports where reported < clock_timestamp() - interval '${REPORT_KEPT_MS} milliseconds'
           or id in (select id from instance_reports order by reported desc offset ${MAX_REPORTS})`,
        )
      }),
    list: () =>
      naming('read the fleet', async () => {
        const rows = await all<ReportRow>(
          queries,
          `select id, status, reported_by as "reportedBy", floor(extract(epoch from reported) * 1000)::float8 as "reportedMs"
           from instance_reports where reported >= clock_timestamp() - interval '${REPORT_KEPT_MS} milliseconds' order by id`,
        )
        return rows.map((row) => ({ ...row, reportedBy: row.reportedBy ?? undefined }))
      }),
  }
}
