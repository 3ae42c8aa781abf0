import type { Config } from '../../config/config.js'
import { inspectConfiguredDatabase } from '../../main/store/inspect-store.js'
import type { DatabaseFacts, SchemaFacts, ServerFacts } from '../../main/store/inspect-store.js'
import { databaseTrailEnd } from '../../main/store/stored-trail.js'
import { attempt, bad, ok, warning } from './finding.js'
import type { Finding } from './finding.js'

const MIB = 1024 * 1024
const MAX_QUIET_OFFSET_MS = 1000
const MAX_OFFSET_MS = 60_000
/** Connections in addition to `store.connections`. */
const EXTRA_CONNECTIONS = 6
const MIGRATE = 'run tidegate store migrate as the owner of the schema'

/** Checks the database of a configuration, if it has one. Changes nothing. */
export async function checkConfiguredDatabase(config: Config): Promise<Finding[]> {
  const { url } = config.store
  if (url === undefined) return []
  let facts: DatabaseFacts | undefined
  const reached = await attempt('database', 'check the setting that the message names', async () => {
    facts = await inspectConfiguredDatabase(config, process.env, Date.now)
    const { version, bytes } = facts.server
    return ok('database', `PostgreSQL ${version}, ${Math.ceil(bytes / MIB)} MiB: ${url}`)
  })
  if (facts === undefined) return [reached]
  const { server, schema } = facts
  const findings = [reached, ...checkServer(server, config.store.connections)]
  if (schema === undefined) {
    const advice =
      'a service creates it when it first starts, if its user has permission; otherwise run tidegate store migrate'
    return [...findings, warning('schema', 'not created yet', advice)]
  }
  const advice = `find the first bad record with tidegate audit verify --store ${url}; keep the database as evidence`
  const trail = await attempt('trail', advice, async () =>
    ok('trail', `intact to its end ${await databaseTrailEnd(config, process.env)}`),
  )
  return [...findings, ...checkSchema(schema, server.isStandby), trail]
}

function checkServer(server: ServerFacts, connections: number): Finding[] {
  const { encoding, isStandby, isEncrypted, standbys } = server
  const { most, open } = server.connections
  const needed = connections + EXTRA_CONNECTIONS
  const usage = `${open} of ${most} in use; a service needs up to ${needed}`
  const advice = 'raise max_connections in PostgreSQL, or lower store.connections'
  return [
    isStandby
      ? bad(
          'primary',
          'the server is read-only',
          'set store.url to the primary, or to all hosts separated by commas',
        )
      : ok(
          'primary',
          `writable; ${standbys.following} standbys, ${standbys.synchronous} of them synchronous`,
        ),
    encoding === 'UTF8'
      ? ok('encoding', 'UTF8')
      : bad('encoding', encoding, "create the database with encoding 'UTF8'"),
    ok('encryption', isEncrypted ? 'the connection is encrypted' : 'the connection is not encrypted'),
    checkClock(server.clockOffsetMs),
    most - open < needed ? warning('connections', usage, advice) : ok('connections', usage),
  ]
}

function checkClock(offsetMs: number): Finding {
  const side = offsetMs > 0 ? 'behind' : 'ahead of'
  const text = `this machine is ${(Math.abs(offsetMs) / 1000).toFixed(1)} s ${side} the database, whose clock is authoritative`
  if (Math.abs(offsetMs) < MAX_QUIET_OFFSET_MS) return ok('clock', text)
  const advice = 'synchronize both with the same time servers'
  return Math.abs(offsetMs) < MAX_OFFSET_MS ? warning('clock', text, advice) : bad('clock', text, advice)
}

function checkSchema(schema: SchemaFacts, isStandby: boolean): Finding[] {
  const { mayWrite, mayMakeTables, withoutNextMonth, services, leftWork } = schema
  const left = `${leftWork} leases of stopped services remain, and no service has taken them over`
  return [
    checkVersion(schema),
    mayWrite || isStandby
      ? ok('permissions', mayMakeTables ? 'the user may write and make tables' : 'the user may write')
      : bad('permissions', 'the user cannot write all tables', 'make it the owner of the schema'),
    withoutNextMonth.length === 0 || mayMakeTables
      ? ok('months', 'the next month has tables, or a service creates them')
      : warning(
          'months',
          `no table for the next month: ${withoutNextMonth.join(', ')}`,
          `${MIGRATE} once a year`,
        ),
    ok('services', `${services} running`),
    leftWork === 0
      ? ok('leases', 'no abandoned work')
      : warning('leases', left, 'start a service; it takes over within seconds'),
  ]
}

function checkVersion({ version, known, oldestWriter, mayMakeTables }: SchemaFacts): Finding {
  if (known < oldestWriter) {
    return bad(
      'schema',
      `migrated to ${version} by a newer release; this one supports ${known}`,
      'upgrade this program',
    )
  }
  if (version > known) return ok('schema', `${version}, of a newer release; this one may write to it`)
  if (version === known) return ok('schema', `${version}, current`)
  const advice = mayMakeTables ? 'a service migrates it when it starts' : MIGRATE
  return warning('schema', `${version}; this release needs ${known}`, advice)
}
