import { Hono } from 'hono'
import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { toEntryView } from '../../events/registry/describe-entry.js'
import { applicationKey } from '../../events/registry/registry-change.js'
import { readRegistryPage, readHistory } from '../../events/registry/registry-operations.js'
import type { RegistryEntry, RegistryKind, RegistryReader } from '../../store/ports/registry-store.js'
import type { Reader } from '../../store/ports/readers.js'
import type { AppEnv } from '../exchange/exchange.js'
import type { Authenticate } from '../pipeline/authenticate.js'
import { jsonAnswer, jsonTextAnswer } from '../exchange/json-answer.js'
import { parseQuery } from '../input/parse-query.js'
import { readPathNumber } from '../input/path-number.js'

export interface RegistryRoutesDeps {
  readonly reader: Reader
  readonly lookups: RegistryReader
}

const MAX_PAGE = 500
const MAX_VERSIONS = 50
const DEFAULT_PAGE = 50
const DEFAULT_VERSIONS = 20

const limit = (max: number, initial: number): z.ZodDefault<z.ZodCoercedNumber> =>
  z.coerce.number().int().min(1).max(max).default(initial)

const Page = {
  name: z.string().optional(),
  deleted: z.enum(['true', 'false']).default('false'),
  limit: limit(MAX_PAGE, DEFAULT_PAGE),
  cursor: z.coerce.number().int().min(1).optional(),
}
const ApplicationsQuery = z.strictObject(Page)
const PipelinesQuery = z.strictObject({ ...Page, application: z.string().optional() })
const HistoryQuery = z.strictObject({
  limit: limit(MAX_VERSIONS, DEFAULT_VERSIONS),
  cursor: z.coerce.number().int().min(1).optional(),
})

type PageQuery = z.output<typeof ApplicationsQuery> & { readonly application?: string | undefined }

/** `GET /applications`, `/applications/{name}`. */
export function applicationRoutes(authenticate: Authenticate, deps: RegistryRoutesDeps): Hono<AppEnv> {
  const app = auditorsOnly(authenticate)
  app.get('/', async (c) =>
    jsonAnswer(await readPage(deps, 'application', parseQuery(ApplicationsQuery, c.req.query()))),
  )
  app.get('/:name', async (c) => {
    const name = c.req.param('name')
    const entry = await deps.lookups.findApplication(applicationKey(name))
    return await showEntry(deps, entry, `application ${name}`)
  })
  app.get('/:name/history', async (c) => {
    const name = c.req.param('name')
    const entry = await deps.lookups.findApplication(applicationKey(name))
    return await showHistory(deps, entry, `application ${name}`, c.req.query())
  })
  return app
}

/** `GET /pipelines`, `/pipelines/{id}` (ours or the orchestrator's), `/pipelines/{id}/history`. */
export function pipelineRoutes(authenticate: Authenticate, deps: RegistryRoutesDeps): Hono<AppEnv> {
  const app = auditorsOnly(authenticate)
  app.get('/', async (c) =>
    jsonAnswer(await readPage(deps, 'pipeline', parseQuery(PipelinesQuery, c.req.query()))),
  )
  app.get('/:id', async (c) => {
    const id = c.req.param('id')
    return await showEntry(deps, await findPipeline(deps, id), `pipeline ${id}`)
  })
  app.get('/:id/history', async (c) => {
    const id = c.req.param('id')
    return await showHistory(deps, await findPipeline(deps, id), `pipeline ${id}`, c.req.query())
  })
  return app
}

function auditorsOnly(authenticate: Authenticate): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.use(async (c, next) => {
    c.env.exchange.handler = 'registry'
    authenticate(c.env.exchange, ['auditor', 'orchestrator'])
    await next()
  })
  return app
}

async function readPage(
  { reader }: RegistryRoutesDeps,
  kind: RegistryKind,
  query: PageQuery,
): Promise<object> {
  const entries = await reader.run(readRegistryPage, {
    kind,
    applicationKey: query.application === undefined ? undefined : applicationKey(query.application),
    nameContains: query.name,
    withDeleted: query.deleted === 'true',
    limit: query.limit,
    afterId: query.cursor,
  })
  const last = entries.length < query.limit ? undefined : entries.at(-1)
  return {
    [`${kind}s`]: entries.map(toEntryView),
    ...(last !== undefined && { nextCursor: String(last.id) }),
  }
}

async function findPipeline({ lookups }: RegistryRoutesDeps, id: string): Promise<RegistryEntry | undefined> {
  const found = await lookups.findPipeline(id)
  const number = readPathNumber(id)
  if (found !== undefined || number === undefined) return found
  const entry = await lookups.findById(number)
  return entry?.kind === 'pipeline' ? entry : undefined
}

async function showEntry(
  { lookups }: RegistryRoutesDeps,
  entry: RegistryEntry | undefined,
  what: string,
): Promise<Response> {
  if (entry === undefined) throw unknown(what)
  const [newest] = await lookups.versions(entry.id, 1)
  const view = JSON.stringify(toEntryView(entry))
  return jsonTextAnswer(`${view.slice(0, -1)},"definition":${newest?.definition ?? 'null'}}`)
}

async function showHistory(
  { reader }: RegistryRoutesDeps,
  entry: RegistryEntry | undefined,
  what: string,
  rawQuery: Record<string, string>,
): Promise<Response> {
  const query = parseQuery(HistoryQuery, rawQuery)
  if (entry === undefined) throw unknown(what)
  const { limit: shown, cursor: before } = query
  const { versions, nextBefore } = await reader.run(readHistory, { id: entry.id, limit: shown, before })
  const next = nextBefore === undefined ? '' : `,"nextCursor":"${nextBefore}"`
  const view = JSON.stringify(toEntryView(entry))
  return jsonTextAnswer(`${view.slice(0, -1)},"versions":${versions}${next}}`)
}

function unknown(what: string): AppError {
  return new AppError('not_found', `the registry has no ${what}`)
}
