import { setImmediate } from 'node:timers/promises'

import { z } from 'zod'

import { AppError, toAppError } from '../../../errors/app-error.js'
import { deliveryMetrics } from '../../../events/delivery-metrics.js'
import { readRuns } from '../../../events/read-runs.js'
import { applicationKey } from '../../../events/registry/registry-change.js'
import { readRegistryPage } from '../../../events/registry/registry-operations.js'
import { selectPackages, textsOf } from '../../../rego/index.js'
import type { RegistryEntry } from '../../../store/ports/registry-store.js'
import { numberOf } from '../../input/path-parameter.js'
import { doraPage, estatePage, pipelinePage } from '../../pages/estate-pages.js'
import type { DefinitionVerdict, ShownPipeline } from '../../pages/estate-pages.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'

const PATH = '/ui/estate'
/** Each pipeline of a page is evaluated. */
const MAX_LISTED = 25
const MAX_VERSIONS = 20
const MAX_NAME = 1000
const DAYS = 30
const DAY_MS = 86_400_000
const WHAT = 'pipeline'
const VIEW = { ...PAGE, method: 'GET', roles: ['auditor'] } as const
const { route } = routesOf<PageRoutesDeps>()

/** Pages of the orchestrator's pipelines. */
export const estatePageRoutes = [
  route({
    ...VIEW,
    path: PATH,
    summary: 'The pipelines and their verdicts by the static policies, as a page',
    query: z.looseObject({
      application: z.string().trim().max(MAX_NAME).default(''),
      name: z.string().trim().max(MAX_NAME).default(''),
      cursor: z
        .string()
        .regex(/^\d{1,15}$/)
        .optional(),
    }),
    answer: async ({ exchange, query: { application, name, cursor } }, deps) => {
      const entries = await deps.registry.reader.run(readRegistryPage, {
        kind: 'pipeline',
        applicationKey: application === '' ? undefined : applicationKey(application),
        nameContains: name === '' ? undefined : name,
        withDeleted: false,
        limit: MAX_LISTED,
        afterId: cursor === undefined ? undefined : Number(cursor),
      })
      const pipelines: ShownPipeline[] = []
      for (const entry of entries) {
        pipelines.push({ entry, verdict: await verdictOf(await definitionOf(entry, deps), deps) })
        await setImmediate()
      }
      const last = entries.length < MAX_LISTED ? undefined : entries.at(-1)
      const shown = { application, name, pipelines, cursor, nextCursor: last && String(last.id) }
      return showPage(estatePage(shown, viewerOf(exchange, deps)), exchange, deps)
    },
  }),
  route({
    ...VIEW,
    path: `${PATH}/dora`,
    summary: 'The four DORA metrics of the last 30 days, as a page',
    answer: async ({ exchange }, deps) => {
      const to = deps.gates.now()
      const from = to - DAYS * DAY_MS
      const runs = await readRuns(deps.registry.reader, { fromMs: from - DAYS * DAY_MS, toMs: to })
      return showPage(doraPage(deliveryMetrics(runs, { from, to }, 'deploying'), DAYS), exchange, deps)
    },
  }),
  route({
    ...VIEW,
    path: `${PATH}/pipelines/:id`,
    summary: 'A pipeline with its verdict and versions, as a page',
    params: { id: numberOf(WHAT) },
    answer: async ({ exchange, params: { id } }, deps) => {
      const { lookups } = deps.registry
      const entry = await lookups.findById(id)
      if (entry?.kind !== WHAT) throw new AppError('not_found', `pipeline ${id} not found in the registry`)
      const versions = await lookups.versions(id, MAX_VERSIONS)
      const verdict = await verdictOf(versions[0]?.definition, deps)
      return showPage(pipelinePage({ entry, verdict, versions }, viewerOf(exchange, deps)), exchange, deps)
    },
  }),
]

async function definitionOf(
  { id }: RegistryEntry,
  { registry }: PageRoutesDeps,
): Promise<string | undefined> {
  const [newest] = await registry.lookups.versions(id, 1)
  return newest?.definition
}

/** Evaluates the static policies as for a save of the definition. Nothing is recorded. */
async function verdictOf(
  definition: string | undefined,
  { policy, gates }: PageRoutesDeps,
): Promise<DefinitionVerdict | undefined> {
  const { current } = policy.policies
  const packages = selectPackages(current, policy.staticPackages)
  if (packages.length === 0 || definition === undefined) return undefined
  try {
    const input = Buffer.from(`{"new":${definition}}`)
    const options = { nowMs: gates.now(), caller: 'console' }
    const denials = await policy.evaluations.static(current, packages, input, options)
    return { denials: textsOf(denials), problem: undefined }
  } catch (raw) {
    return { denials: [], problem: toAppError(raw).message }
  }
}
