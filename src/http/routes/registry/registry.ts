import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import { toEntryView } from '../../../events/registry/describe-entry.js'
import { applicationKey } from '../../../events/registry/registry-change.js'
import { readOtherApplication, readOtherApplications } from '../../../events/registry/other-applications.js'
import { readRegistryPage, readHistory } from '../../../events/registry/registry-operations.js'
import type { RegistryEntry, RegistryKind, RegistryReader } from '../../../store/ports/registry-store.js'
import type { Reader } from '../../../store/ports/readers.js'
import { jsonAnswer, jsonTextAnswer } from '../../exchange/json-answer.js'
import { readPathNumber, textOf } from '../../input/path-parameter.js'
import { AfterNumber, NextPage, Time, json, pageSize } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'

export interface RegistryRoutesDeps {
  readonly reader: Reader
  readonly lookups: RegistryReader
}

const MAX_PAGE = 500
const MAX_VERSIONS = 50
const DEFAULT_PAGE = 50
const DEFAULT_VERSIONS = 20

const Page = {
  name: z.string().optional().describe('Part of the name.'),
  deleted: z.enum(['true', 'false']).default('false'),
  limit: pageSize(MAX_PAGE, DEFAULT_PAGE),
  cursor: AfterNumber,
}
const ApplicationsQuery = z.strictObject(Page)
const PipelinesQuery = z.strictObject({ ...Page, application: z.string().optional() })
const HistoryQuery = z.strictObject({
  limit: pageSize(MAX_VERSIONS, DEFAULT_VERSIONS),
  cursor: AfterNumber,
})

type PageQuery = z.output<typeof ApplicationsQuery> & { readonly application?: string | undefined }
type HistoryPage = z.output<typeof HistoryQuery>

const Entry = z.looseObject({
  id: z.int(),
  name: z.string(),
  version: z.int(),
  changedAt: Time,
  recordedAt: Time,
  changedBy: z.string().optional(),
  deleted: z.literal(true).optional(),
})
const Pipeline = Entry.extend({ application: z.string(), pipelineId: z.string().optional() })
const Version = z.looseObject({
  version: z.int(),
  changedAt: Time,
  changedBy: z.string().optional(),
  recordedAt: Time,
  source: z.string(),
  auditSeq: z.int().optional(),
  deleted: z.literal(true).optional(),
  difference: z
    .unknown()
    .optional()
    .describe('Difference from the previous version, in jsondiffpatch format.'),
  differenceLeftOut: z.string().optional(),
})
const History = { versions: z.array(Version), ...NextPage }
const KnownFromDefinition = z.tuple([z.literal('definition')])
const OtherApplication = z.object({
  name: z.string(),
  knownFrom: z.array(z.enum(['pipelines', 'events', 'executions'])).min(1),
})
const COMMON = { method: 'GET', roles: ['auditor', 'orchestrator'], handler: 'registry' } as const
const { route } = routesOf<RegistryRoutesDeps>()

const NAME = textOf('The name of the application.')
const ID = textOf('Number of the pipeline, or its id in the orchestrator.')

/** `GET /applications`, `/applications/{name}` and its history. */
export const applicationRoutes = [
  route({
    ...COMMON,
    path: '/applications',
    summary: 'The applications of the orchestrator',
    query: ApplicationsQuery,
    answers: {
      200: json(
        'A page. The last one also lists applications that are known only from pipelines, events or executions.',
        z.object({
          applications: z.array(
            z.union([Entry.extend({ knownFrom: KnownFromDefinition }), OtherApplication]),
          ),
          ...NextPage,
        }),
      ),
    },
    answer: async ({ query }, deps) => jsonAnswer(await readApplications(deps, query)),
  }),
  route({
    ...COMMON,
    path: '/applications/:name',
    summary: 'One application with its definition',
    params: { name: NAME },
    answers: {
      200: json(
        'The application; without a definition if it is known only from pipelines, events or executions.',
        z.union([
          Entry.extend({ knownFrom: KnownFromDefinition, definition: z.unknown() }),
          OtherApplication,
        ]),
      ),
    },
    answer: async ({ params: { name } }, deps) => {
      const entry = await deps.lookups.findApplication(applicationKey(name))
      if (entry !== undefined) return await showEntry(deps, entry, { knownFrom: ['definition'] })
      const other = await deps.reader.run(readOtherApplication, name)
      if (other === undefined) throw unknown(`application ${name}`)
      return jsonAnswer(other)
    },
  }),
  route({
    ...COMMON,
    path: '/applications/:name/history',
    summary: 'The versions of an application, newest first',
    params: { name: NAME },
    query: HistoryQuery,
    answers: { 200: json('A page of versions.', Entry.extend(History)) },
    answer: async ({ params: { name }, query }, deps) => {
      const entry = await deps.lookups.findApplication(applicationKey(name))
      return await showHistory(deps, entry, `application ${name}`, query)
    },
  }),
]

/**
 * `GET /pipelines`, `/pipelines/{id}` (this service's or the orchestrator's id),
 * `/pipelines/{id}/history`.
 */
export const pipelineRoutes = [
  route({
    ...COMMON,
    path: '/pipelines',
    summary: 'The pipelines of the orchestrator',
    query: PipelinesQuery,
    answers: {
      200: json('A page.', z.object({ pipelines: z.array(Pipeline), ...NextPage })),
    },
    answer: async ({ query }, deps) => jsonAnswer(await readPage(deps, 'pipeline', query)),
  }),
  route({
    ...COMMON,
    path: '/pipelines/:id',
    summary: 'One pipeline with its definition',
    params: { id: ID },
    answers: { 200: json('The pipeline.', Pipeline.extend({ definition: z.unknown() })) },
    answer: async ({ params: { id } }, deps) => {
      const entry = await findPipeline(deps, id)
      if (entry === undefined) throw unknown(`pipeline ${id}`)
      return await showEntry(deps, entry)
    },
  }),
  route({
    ...COMMON,
    path: '/pipelines/:id/history',
    summary: 'The versions of a pipeline with their differences, newest first',
    params: { id: ID },
    query: HistoryQuery,
    answers: { 200: json('A page of versions.', Pipeline.extend(History)) },
    answer: async ({ params: { id }, query }, deps) =>
      await showHistory(deps, await findPipeline(deps, id), `pipeline ${id}`, query),
  }),
]

/** Returns applications with a definition page by page, and the others on the last page. */
async function readApplications(deps: RegistryRoutesDeps, query: PageQuery): Promise<object> {
  const { entries, next } = await readEntriesOf(deps, 'application', query)
  const defined = entries.map((entry) => ({ ...toEntryView(entry), knownFrom: ['definition'] }))
  if (next !== undefined) return { applications: defined, nextCursor: next }
  const others = await deps.reader.run(readOtherApplications, { nameContains: query.name, limit: MAX_PAGE })
  return { applications: [...defined, ...others] }
}

async function readPage(
  { reader }: RegistryRoutesDeps,
  kind: RegistryKind,
  query: PageQuery,
): Promise<object> {
  const { entries, next } = await readEntriesOf({ reader }, kind, query)
  return { [`${kind}s`]: entries.map(toEntryView), ...(next !== undefined && { nextCursor: next }) }
}

async function readEntriesOf(
  { reader }: Pick<RegistryRoutesDeps, 'reader'>,
  kind: RegistryKind,
  query: PageQuery,
): Promise<{ readonly entries: readonly RegistryEntry[]; readonly next: string | undefined }> {
  const entries = await reader.run(readRegistryPage, {
    kind,
    applicationKey: query.application === undefined ? undefined : applicationKey(query.application),
    nameContains: query.name,
    withDeleted: query.deleted === 'true',
    limit: query.limit,
    afterId: query.cursor,
  })
  const last = entries.length < query.limit ? undefined : entries.at(-1)
  return { entries, next: last && String(last.id) }
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
  entry: RegistryEntry,
  more: { readonly knownFrom?: readonly string[] } = {},
): Promise<Response> {
  const [newest] = await lookups.versions(entry.id, 1)
  const view = JSON.stringify({ ...toEntryView(entry), ...more })
  return jsonTextAnswer(`${view.slice(0, -1)},"definition":${newest?.definition ?? 'null'}}`)
}

async function showHistory(
  { reader }: RegistryRoutesDeps,
  entry: RegistryEntry | undefined,
  what: string,
  { limit, cursor: before }: HistoryPage,
): Promise<Response> {
  if (entry === undefined) throw unknown(what)
  const { versions, nextBefore } = await reader.run(readHistory, { id: entry.id, limit, before })
  const next = nextBefore === undefined ? '' : `,"nextCursor":"${nextBefore}"`
  const view = JSON.stringify(toEntryView(entry))
  return jsonTextAnswer(`${view.slice(0, -1)},"versions":${versions}${next}}`)
}

function unknown(what: string): AppError {
  return new AppError('not_found', `${what} not found in the registry`)
}
