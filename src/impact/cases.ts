import { AppError } from '../errors/app-error.js'
import { refuseMalformed } from '../lib/json/scan/locate-value.js'
import { findApplication } from '../rego/index.js'
import type { DecisionFilter, DecisionPosition, DecisionReadStore } from '../store/ports/decision-store.js'
import type { Reader, ReadOperation } from '../store/ports/readers.js'
import { STATIC_PATH, caseOfDecision, caseOfPipeline } from './replay-case.js'
import type { NotReplayable, ReplayCase, StoredPipeline } from './replay-case.js'
import type { ImpactRequest } from './impact-request.js'

/** Memory of one page. */
const PAGE = { rows: 500, bytes: 8 * 1024 * 1024 }
const PIPELINES_PER_PAGE = 200

/** The cases of matching decisions, newest first. Raises `unavailable` if they cannot be read. */
export async function* decisionCases(
  store: Pick<DecisionReadStore, 'page'>,
  filter: DecisionFilter,
): AsyncGenerator<ReplayCase | NotReplayable> {
  for (let after: DecisionPosition | undefined; ;) {
    const { decisions, next } = await store.page(filter, PAGE, after)
    for (const decision of decisions) yield caseOfDecision(decision)
    if (next === undefined) return
    after = next
  }
}

/** A page of pipelines, and the position of the next one. */
interface PipelinePage {
  readonly pipelines: readonly StoredPipeline[]
  readonly nextAfterId: number | undefined
}

/** Pipelines of the registry that are not deleted, with their current definitions. */
export const readPipelines: ReadOperation<
  { readonly afterId: number; readonly limit: number; readonly application: string | undefined },
  PipelinePage
> = {
  name: 'impact.pipelines',
  apply: async ({ registry }, { afterId, limit, application }) => {
    const entries = await registry.all('pipeline', afterId, limit)
    const key = application?.toLowerCase()
    const pipelines: StoredPipeline[] = []
    for (const { id, pipelineId, name, application: owner, applicationKey, digest } of entries) {
      if (digest === undefined || (key !== undefined && applicationKey !== key)) continue
      const [newest] = await registry.versions(id, 1)
      if (newest?.definition === undefined) continue
      pipelines.push({
        id: pipelineId ?? String(id),
        name,
        application: owner,
        definition: newest.definition,
      })
    }
    return { pipelines, nextAfterId: entries.length < limit ? undefined : entries.at(-1)?.id }
  },
}

/** The cases of saving the registry's pipelines now. Raises `unavailable` if they cannot be read. */
export async function* pipelineCases(
  reader: Reader,
  application: string | undefined,
  nowMs: number,
): AsyncGenerator<ReplayCase | NotReplayable> {
  for (let afterId = 0; ;) {
    const page = await reader.run(readPipelines, { afterId, limit: PIPELINES_PER_PAGE, application })
    for (const pipeline of page.pipelines) yield caseOfPipeline(pipeline, nowMs)
    if (page.nextAfterId === undefined) return
    afterId = page.nextAfterId
  }
}

/** The cases of sent inputs. Raises `invalid` for one that is not JSON. */
export function inputCases(inputs: ImpactRequest['inputs'], nowMs: number): ReplayCase[] {
  return inputs.map(({ name, input }) => {
    const bytes = Buffer.from(typeof input === 'string' ? input : JSON.stringify(input))
    try {
      refuseMalformed(bytes)
    } catch (raw) {
      if (!(raw instanceof AppError)) throw raw
      throw new AppError('invalid', `inputs: ${name} is not JSON: ${raw.message}`, { cause: raw })
    }
    const application = findApplication(bytes)
    return {
      origin: 'input',
      id: name,
      kind: 'static',
      path: STATIC_PATH,
      application,
      timeMs: nowMs,
      input: bytes,
    }
  })
}
