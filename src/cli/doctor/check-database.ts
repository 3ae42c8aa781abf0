import type { Config } from '../../config/config.js'
import { inspectConfiguredDatabase } from '../../main/store/inspect-store.js'
import type { DatabaseFacts, SchemaFacts, ServerFacts } from '../../main/store/inspect-store.js'
import { databaseTrailEnd } from '../../main/store/stored-trail.js'
import { attempt, bad, ok, warning } from './finding.js'
import type { Finding } from './finding.js'

const MIB = 1024 * 1024
const MAX_QUIET_OFFSET_MS = 1000
const MAX_OFFSET_MS = 60_000
/** Beside `store.connections`. */
const EXTRA_CONNECTIONS = 6
const MIGRATE = 'run tidegate store migrate with the user who owns the schema'

/** Looks at the database of a configuration; nothing where it names none. Changes nothing. */
export async function checkConfiguredDatabase(config: Config): Promise<Finding[]> {
  const { url } = config.store
  if (url === undefined) return []
  let facts: DatabaseFacts | undefined
  const reached = await attempt('database', 'the message says what to look at', async () => {
    facts = await inspectConfiguredDatabase(config, process.env, Date.now)
    const { version, bytes } = facts.server
    return ok('database', `PostgreSQL ${version} is there, ${Math.ceil(bytes / MIB)} MiB: ${url}`)
  })
  if (facts === undefined) return [reached]
  const { server, schema } = facts
  const findings = [reached, ...checkServer(server, config.store.connections)]
  if (schema === undefined) {
    const advice = 'a service makes it at its first start, if its user may; else run tidegate store migrate'
    return [...findings, warning('schema', 'there is none yet', advice)]
  }
  const advice = `tidegate audit verify --store ${url} tells the first bad record; keep the database as evidence`
  const trail = await attempt('trail', advice, async () =>
    ok('trail', `intact to its end ${await databaseTrailEnd(config, process.env)}`),
  )
  return [...findings, ...checkSchema(schema, server.isStandby), trail]
}

function checkServer(server: ServerFacts, connections: number): Finding[] {
  const { encoding, isStandby, isEncrypted, standbys } = server
  const { most, open } = server.connections
  const needed = connections + EXTRA_CONNECTIONS
  const usage = `${open} of ${most} are open; a service takes up to ${needed}`
  const advice = 'raise max_connections there, or lower store.connections'
  return [
    isStandby
      ? bad('primary', 'it takes no writes', 'name the primary in store.url, or all hosts between commas')
      : ok(
          'primary',
          `it takes writes; ${standbys.following} standbys follow, ${standbys.synchronous} of them synchronously`,
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
  const text = `this machine's is ${(Math.abs(offsetMs) / 1000).toFixed(1)} s ${side} the database's, which counts`
  if (Math.abs(offsetMs) < MAX_QUIET_OFFSET_MS) return ok('clock', text)
  const advice = 'set both by the same time servers'
  return Math.abs(offsetMs) < MAX_OFFSET_MS ? warning('clock', text, advice) : bad('clock', text, advice)
}

function checkSchema(schema: SchemaFacts, isStandby: boolean): Finding[] {
  const { mayWrite, mayMakeTables, withoutNextMonth, services, leftWork } = schema
  const left = `${leftWork} pieces of work were left by a service that ended, and none goes on with them`
  return [
    checkVersion(schema),
    mayWrite || isStandby
      ? ok('permissions', mayMakeTables ? 'the user may write and make tables' : 'the user may write')
      : bad('permissions', 'the user may not write all tables', 'make it the owner of the schema'),
    withoutNextMonth.length === 0 || mayMakeTables
      ? ok('months', 'there is room for the next one, or a service makes it')
      : warning(
          'months',
          `no table for the next month of ${withoutNextMonth.join(', ')}`,
          `${MIGRATE}, once a year`,
        ),
    ok('services', `${services} say that they are alive`),
    leftWork === 0
      ? ok('leases', 'no work is left behind')
      : warning('leases', left, 'start a service: it takes them up within seconds'),
  ]
}

function checkVersion({ version, known, oldestWriter, mayMakeTables }: SchemaFacts): Finding {
  if (known < oldestWriter) {
    return bad(
      'schema',
      `a newer release has migrated it to ${version}; this one knows ${known}`,
      'upgrade this program',
    )
  }
  if (version > known) return ok('schema', `${version}, of a newer release, to which this one may write`)
  if (version === known) return ok('schema', `${version}, as this release has it`)
  const advice = mayMakeTables ? 'a service migrates it when it starts' : MIGRATE
  return warning('schema', `${version}, where this release has ${known}`, advice)
}
