import { z } from 'zod'
import { AppError } from '../../../errors/app-error.js'
import { findGateOfStage, findStageRule } from '../../../gates/definitions/find-stage-gate.js'
import type { StageName } from '../../../gates/definitions/find-stage-gate.js'
import { pipelineKey } from '../../../events/registry/registry-change.js'
import type { Gate, StageType } from '../../../store/ports/gate.js'
import { baseUrl } from '../../exchange/base-url.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { textOf } from '../../input/path-parameter.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'

/** The gate of a stage. Plugins require the key `gateUrl`. */
interface StageGate {
  readonly path: string
  readonly gateId: number | undefined
  /** Path of the policy's page under `/ui/plugin-isd`. */
  readonly policyUrl?: string
}

const StageGateAnswer = z.object({
  gateUrl: z.string(),
  gateId: z.int().optional(),
  policyUrl: z.string().optional(),
})
const PipelineAnswer = z.looseObject({
  appName: z.string(),
  appId: z.int(),
  serviceName: z.string(),
  serviceId: z.int(),
  pipelineName: z.string(),
  pipelineId: z.int(),
  isCustomGateFound: z.boolean(),
})
const APPLICATION = textOf('The name of the application.')
const PIPELINE = textOf('Name of the pipeline, form-encoded.')
const COMMON = {
  method: 'GET',
  roles: ['orchestrator'],
  handler: 'gates.lookup',
  showsErrors: true,
  isPolled: true,
} as const
const { route } = routesOf<GateRoutesDeps>()

/**
 * `/platformservice`: lookups by the orchestrator's plugins before a stage triggers anything
 * (clients, 1.7 A and C).
 */
export const gateLookupRoutes = [
  route({
    ...COMMON,
    path: '/platformservice/v1/applications/:application/pipelines/:pipeline',
    summary: 'The ids of an application and a pipeline, for plugins',
    params: { application: APPLICATION, pipeline: textOf('The name of the pipeline.') },
    query: z.looseObject({
      gateName: z.string().default('').describe('The name of the stage.'),
      gateType: z.string().default('').describe('Type of the stage: approval, policy or verification.'),
    }),
    answers: { 200: json('Names and ids.', PipelineAnswer) },
    // Plugins do not encode these names, so `+` is literal.
    answer: async ({ params: { application, pipeline }, query: { gateName, gateType } }, deps) => {
      const { applicationId, pipelineId } = await deps.numbers.idsOf(application, pipeline)
      return jsonAnswer({
        appName: application,
        appId: applicationId,
        serviceName: pipeline,
        serviceId: pipelineId,
        pipelineName: pipeline,
        pipelineId,
        isCustomGateFound: await isGateThere(gateType, { application, pipeline, stage: gateName }, deps),
      })
    },
  }),
  route({
    ...COMMON,
    path: '/platformservice/v6/applications/:application/pipeline/:pipeline/reference/:reference/gates/:stage',
    summary: 'The gate of a stage, for plugins',
    params: {
      application: APPLICATION,
      pipeline: PIPELINE,
      reference: textOf('Reference of the stage in its pipeline.'),
      stage: textOf('Name of the stage, form-encoded.'),
    },
    query: z.looseObject({
      type: z.string().default('').describe('Type of the stage: approval, policy or verification.'),
    }),
    answers: {
      200: json('URL of the gate.', StageGateAnswer),
      404: { description: 'No gate is declared for the stage.' },
    },
    answer: async ({ exchange, query: { type } }, deps) => {
      const named = stageOf(exchange.target.path)
      if (!isStageType(type)) throw unknownType(type)
      const exact = await findGate(type, named, deps)
      // A gateway may encode the `+` of a blank again.
      const isFound = exact !== undefined && (exact.gateId !== undefined || type === 'policy')
      const respelt = isFound ? undefined : stageOf(exchange.target.path.replaceAll(/%2b/gi, '+'))
      const gate = (respelt && (await findGate(type, respelt, deps))) ?? exact
      if (gate === undefined) throw noGate(type, named)
      const { path, gateId, policyUrl } = gate
      return jsonAnswer({ gateUrl: `${baseUrl(exchange, deps.orchestratorUrl)}${path}`, gateId, policyUrl })
    },
  }),
]

/** Raises `invalid` for a broken escape. */
function stageOf(path: string): StageName {
  const [, , , application = '', , pipeline = '', , , , stage = ''] = pathWords(path)
  return { application, pipeline, stage }
}

async function findGate(
  type: StageType,
  stage: StageName,
  deps: GateRoutesDeps,
): Promise<StageGate | undefined> {
  const rule = type === 'policy' ? findStageRule(deps.stagePolicies, stage) : undefined
  if (rule !== undefined) return policyGate(rule.policy, undefined)
  const gate = await deps.reader.run(findGateOfStage, { stage, type })
  // The analysis of an application is looked up when it is triggered.
  if (type === 'verification') return { path: '/autopilot/api/v5/registerCanary', gateId: gate?.id }
  if (gate === undefined) return undefined
  if (type === 'approval')
    return { path: `/visibilityservice/v5/approvalGates/${gate.id}/trigger`, gateId: gate.id }
  return gate.policy === undefined ? undefined : policyGate(gate.policy, gate.id)
}

function policyGate(policy: string, gateId: number | undefined): StageGate {
  return { path: `/v1/data/${policy}`, gateId, policyUrl: `/policy/${policy}` }
}

/**
 * Returns whether the stage can skip creating its gate: the gate is declared, or matches the
 * current form. If forms may not create gates it also returns true, since a refusal would end the
 * stage; its lookup then reports the missing gate.
 */
async function isGateThere(type: string, stage: StageName, deps: GateRoutesDeps): Promise<boolean> {
  if (!deps.makesGates || !isStageType(type) || stage.stage === '') return true
  if (type === 'policy' && findStageRule(deps.stagePolicies, stage) !== undefined) return true
  const gate = await deps.reader.run(findGateOfStage, { stage, type })
  return gate !== undefined && (gate.origin !== 'stage' || !(await isOlderThanPipeline(gate, stage, deps)))
}

/** Returns whether the pipeline was saved after its form created the gate. */
async function isOlderThanPipeline(
  { changedMs }: Gate,
  { application, pipeline }: StageName,
  { lookups }: GateRoutesDeps,
): Promise<boolean> {
  const saved = await lookups.registry.findPipelineByKey(pipelineKey(application, pipeline))
  return saved !== undefined && saved.recordedMs > changedMs
}

function isStageType(type: string): type is StageType {
  return type === 'approval' || type === 'policy' || type === 'verification'
}

function unknownType(type: string): AppError {
  return new AppError('invalid', `type must be approval, policy or verification, not "${type}"`)
}

function noGate(type: StageType, { application, pipeline, stage }: StageName): AppError {
  const where = type === 'approval' ? 'gates.definitions' : 'gates.runtimePolicies'
  return new AppError(
    'not_found',
    `No ${type} is declared for the stage "${stage}" of ${application}, pipeline ${pipeline}. Add it to ${where}, or choose one in the stage if gates.fromStages allows it.`,
  )
}

/**
 * Splits a path that plugins build. Each segment is form-encoded: `+` is a space and `%2F` a slash
 * within the segment (clients, 1.7). Raises `invalid` for a broken escape.
 */
export function pathWords(path: string): readonly string[] {
  try {
    return path
      .split('/')
      .slice(1)
      .map((segment) => decodeURIComponent(segment.replaceAll('+', ' ')))
  } catch (cause) {
    throw new AppError('invalid', `the path has a broken percent escape: ${path}`, { cause })
  }
}
