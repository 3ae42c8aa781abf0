import { Hono } from 'hono'
import { z } from 'zod'

import { exportTrail } from '../../audit/export-trail.js'
import { recordLabels, toRecordView } from '../../audit/record-view.js'
import { searchTrail } from '../../audit/search-trail.js'
import { verifyTrail } from '../../audit/verify-trail.js'
import { AppError, toAppError } from '../../errors/app-error.js'
import { EXPORT_FORMATS } from '../../store/ports/audit-export.js'
import { AUDIT_SOURCES } from '../../store/ports/audit-store.js'
import type { AuditFilter, AuditReader } from '../../store/ports/audit-store.js'
import type { Reader } from '../../store/ports/readers.js'
import type { AppEnv } from '../exchange/exchange.js'
import type { Authenticate } from '../pipeline/authenticate.js'
import { LimitedStreams } from '../pipeline/limited-streams.js'
import { jsonAnswer, jsonTextAnswer } from '../exchange/json-answer.js'
import { Moment, parseQuery } from '../input/parse-query.js'
import { requirePathNumber } from '../input/path-number.js'
import { executionTimeline } from '../../audit/execution-timeline.js'
import type { TimelineDeps } from '../../audit/execution-timeline.js'

export interface AuditRoutesDeps {
  readonly reader: Reader
  readonly lookups: Pick<AuditReader, 'find'>
  /** Of the keys that checkpoints are or were signed with. */
  readonly publicKeys: readonly string[]
  /** Makes what was kept until now findable by free text, as far as that is soon done. */
  readonly caughtUp: () => Promise<void>
}

const MAX_PAGE = 500
const MAX_EXPORTS = 8
const DEFAULT_PAGE = 50
const EXPORT_TYPES = { ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8' }

const Filter = {
  source: z.enum(AUDIT_SOURCES).optional(),
  kind: z.string().optional(),
  ...recordLabels,
  eventId: z.string().optional(),
  from: Moment.optional(),
  to: Moment.optional(),
}
const SearchQuery = z.strictObject({
  ...Filter,
  q: z.string().max(1000).optional(),
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(DEFAULT_PAGE),
  cursor: z.string().optional(),
})
const ExportQuery = z.strictObject({
  ...Filter,
  format: z.enum(EXPORT_FORMATS).default('ndjson'),
  bodies: z.enum(['true', 'false']).default('false'),
})
const VerifyQuery = z.strictObject({
  expected: z
    .string()
    .regex(/^\d{1,15}:[0-9a-f]{64}$/, 'must be the number of a record, a colon and its hash')
    .optional(),
})

type GivenFilter = Omit<AuditFilter, 'fromMs' | 'toMs'> & {
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** `GET /audit` searches the trail; `/audit/{seq}`, `/audit/verify` and `/audit/export` show, prove and hand out. */
export function auditRoutes(authenticate: Authenticate, deps: AuditRoutesDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.use(async (c, next) => {
    c.env.exchange.handler = 'audit'
    authenticate(c.env.exchange, ['auditor'])
    await next()
  })
  app.get('/', async (c) => {
    const { q, limit, cursor, ...filter } = parseQuery(SearchQuery, c.req.query())
    if (q !== undefined) await deps.caughtUp()
    return jsonAnswer(await searchTrail(deps.reader, { filter: toFilter(filter), text: q, limit, cursor }))
  })
  app.get('/verify', async (c) => {
    const { expected } = parseQuery(VerifyQuery, c.req.query())
    const [seq = '', hash = ''] = expected?.split(':') ?? []
    const link = expected === undefined ? undefined : { seq: Number(seq), hash }
    const { reader, publicKeys } = deps
    return jsonAnswer(await verifyTrail({ reader, publicKeys, expected: link }))
  })
  const exports = new LimitedStreams(MAX_EXPORTS, 'exports')
  app.get('/export', (c) => {
    const { format, bodies, ...filter } = parseQuery(ExportQuery, c.req.query())
    const query = { filter: toFilter(filter), format, withBodies: bodies === 'true' }
    const headers = { 'Content-Type': EXPORT_TYPES[format] }
    // Nothing is made for who asks only for the head.
    const { exchange } = c.env
    if (exchange.method === 'HEAD') return new Response(null, { headers })
    const body = exports.start(exportTrail(deps.reader, query), (raw) => exchange.breakOff(toAppError(raw)))
    return new Response(body, { headers })
  })
  app.get('/:seq', async (c) => jsonTextAnswer(await recordText(deps, c.req.param('seq'))))
  return app
}

function toFilter({ from, to, ...filter }: GivenFilter): AuditFilter {
  return { ...filter, fromMs: from, toMs: to }
}

/** With the body as it was kept, digit for digit. */
async function recordText({ lookups }: AuditRoutesDeps, text: string): Promise<string> {
  const record = await lookups.find(requirePathNumber(text, 'audit record'))
  if (record === undefined) throw new AppError('not_found', `there is no audit record ${text}`)
  const head = JSON.stringify(toRecordView(record))
  return `${head.slice(0, -1)},"body":${Buffer.from(record.body).toString()}}`
}

/** `GET /executions/{id}/timeline`: one execution's story. */
export function executionRoutes(authenticate: Authenticate, deps: TimelineDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.get('/:id/timeline', async (c) => {
    c.env.exchange.handler = 'executions'
    authenticate(c.env.exchange, ['auditor'])
    return jsonAnswer(await executionTimeline(deps, c.req.param('id')))
  })
  return app
}
