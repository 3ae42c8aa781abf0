import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import { connectorTypeOf } from '../../../gates/connectors/form-fields.js'
import { typeOf } from '../../../gates/definitions/find-stage-gate.js'
import {
  addStageConnector,
  changeStageGate,
  saveStageGate,
  setStageApprovers,
} from '../../../gates/stages/save-stage-gate.js'
import type { Gate } from '../../../store/ports/gate.js'
import { actorOf } from '../../exchange/caller-of.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { jsonBody } from '../../input/body-reader.js'
import { numberOf, textOf } from '../../input/path-parameter.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { FormRoutesDeps } from './form-routes-deps.js'

const MAX_NAME = 1000
const MAX_LISTED = 1000

const Name = z.string().min(1).max(MAX_NAME)
const OptionalName = z
  .string()
  .max(MAX_NAME)
  .nullish()
  .transform((name) => (name === '' ? undefined : (name ?? undefined)))
const ChosenPolicy = z.looseObject({
  policyId: z.coerce.number().nullish(),
  policyName: z.string().nullish(),
})
/** The choices that a stage sends from its form (clients, 1.7 B). */
const StageGateBody = z.looseObject({
  gateName: Name,
  gateType: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['approval', 'policy', 'verification'])),
  ...ChosenPolicy.shape,
  isAutomatedApproval: z.boolean().nullish(),
  approvalGatePolicies: z.array(ChosenPolicy).max(MAX_LISTED).nullish(),
  metricTemplateName: OptionalName,
  logTemplateName: OptionalName,
})
const Permissions = z.looseObject({
  userGroups: z
    .array(
      z.looseObject({
        userGroupNames: z.array(z.looseObject({ userGroupName: Name })).max(MAX_LISTED),
        permissionIds: z.array(z.string()),
      }),
    )
    .max(MAX_LISTED),
})
const ChosenConnector = z.looseObject({ datasourceName: Name })
const StageGateAnswer = z.object({
  id: z.int(),
  approvalGateId: z.int(),
  gateName: z.string(),
  gateType: z.enum(['approval', 'policy', 'verification']),
  policyName: z.string().optional(),
  approverGroups: z.array(z.string()),
  connectors: z.array(z.string()),
})
type Chosen = z.output<typeof ChosenPolicy>

const DECLARED = { description: 'The gate is declared by an operator and cannot be changed by a form.' }
const ANSWERS = { 200: json('The gate.', StageGateAnswer), 409: DECLARED }
const COMMON = { roles: ['orchestrator'], handler: 'forms', showsErrors: true, answers: ANSWERS } as const
const GATE = { gateId: numberOf('approval gate') }
const { route } = routesOf<FormRoutesDeps>()

/** Routes by which stages create and change their gates. They require `gates.fromStages`. */
export const stageGateRoutes = [
  route({
    ...COMMON,
    method: 'POST',
    path: '/dashboardservice/v4/pipelines/:id/gates',
    summary: 'Create the gate of a stage from its form',
    params: { id: numberOf('pipeline') },
    body: jsonBody(StageGateBody),
    answer: async ({ exchange, params: { id }, body }, deps) => {
      requireGateCreation(deps)
      const { application, pipeline } = (await deps.numbers.namesOf(id)) ?? {}
      if (application === undefined || pipeline === undefined) throw noPipeline(id)
      const stage = { application, pipeline, stage: body.gateName }
      const templates = { metric: body.metricTemplateName, log: body.logTemplateName }
      const choice = { stage, type: body.gateType, policy: policyOf(body, deps), templates }
      return answered(await deps.writer.run(saveStageGate, { ...choice, actor: actorOf(exchange, deps) }))
    },
  }),
  route({
    ...COMMON,
    method: 'PUT',
    path: '/dashboardservice/v4/pipelines/:id/gates/:gateId',
    summary: 'Change the gate of a stage from its form',
    params: { ...GATE, id: numberOf('pipeline') },
    body: jsonBody(StageGateBody),
    answer: async ({ exchange, params: { gateId }, body }, deps) => {
      requireGateCreation(deps)
      const change = { gateId, policy: policyOf(body, deps), actor: actorOf(exchange, deps) }
      return answered(await deps.writer.run(changeStageGate, change))
    },
  }),
  route({
    ...COMMON,
    method: 'PUT',
    path: '/platformservice/v6/usergroups/permissions/users/:user/resources/:gateId',
    summary: 'Restrict the gate of a stage to groups of approvers',
    params: { ...GATE, user: textOf('The user of the stage.') },
    body: jsonBody(Permissions),
    answer: async ({ exchange, params: { gateId }, body: { userGroups } }, deps) => {
      requireGateCreation(deps)
      const deciding = userGroups.filter(({ permissionIds }) => permissionIds.includes('approve_gate'))
      const names = deciding.flatMap(({ userGroupNames }) =>
        userGroupNames.map(({ userGroupName }) => userGroupName),
      )
      const change = { gateId, groups: [...new Set(names)], actor: actorOf(exchange, deps) }
      return answered(await deps.writer.run(setStageApprovers, change))
    },
  }),
  route({
    ...COMMON,
    method: 'PUT',
    path: '/visibilityservice/v4/approvalGates/:gateId/connector',
    summary: 'Add a connector to the gate of a stage, whose policy then waits for its evidence',
    params: GATE,
    body: jsonBody(ChosenConnector),
    answer: async ({ exchange, params: { gateId }, body: { datasourceName } }, deps) => {
      requireGateCreation(deps)
      const account = deps.accounts.find(({ name }) => name === datasourceName)
      if (account === undefined) throw noAccount(datasourceName)
      const change = { gateId, connectorType: connectorTypeOf(account), actor: actorOf(exchange, deps) }
      return answered(await deps.writer.run(addStageConnector, change))
    },
  }),
]

/**
 * Returns the policy of a form; for an approval, the one that decides. Raises `invalid` for an
 * unknown policy and for several.
 */
function policyOf(
  {
    gateType,
    isAutomatedApproval,
    approvalGatePolicies,
    policyId,
    policyName,
  }: z.output<typeof StageGateBody>,
  deps: FormRoutesDeps,
): string | undefined {
  if (gateType === 'verification') return undefined
  if (gateType === 'policy') return offeredPolicy({ policyId, policyName }, deps)
  const chosen = isAutomatedApproval === true ? (approvalGatePolicies ?? []) : []
  const [first, ...others] = chosen
  if (others.length > 0) {
    throw new AppError(
      'invalid',
      `an approval must have one deciding policy; its form names ${chosen.length}`,
    )
  }
  if (first === undefined && isAutomatedApproval === true) {
    throw new AppError(
      'invalid',
      'The form requests an automated approval without a policy. Choose a policy in the stage.',
    )
  }
  return first && offeredPolicy(first, deps)
}

/** Finds a policy by name, or by number if the form was saved with another spelling. */
function offeredPolicy({ policyId, policyName }: Chosen, { runtimePolicies }: FormRoutesDeps): string {
  const offered = runtimePolicies()
  const path = policyName?.trim().replace(/^data[./]/, '')
  const found =
    offered.find((policy) => policy.path === path) ??
    offered.find((policy) => policy.path === path?.replaceAll('.', '/')) ??
    offered.find(({ id }) => id === policyId)
  if (found !== undefined) return found.path
  throw new AppError(
    'invalid',
    `No loaded runtime policy has the name ${JSON.stringify(policyName ?? '')} or the number ${policyId ?? 'none'}. Choose another one in the stage.`,
  )
}

function answered(gate: Gate): Response {
  const { id, name, policy, approvers, connectors } = gate
  return jsonAnswer({
    ...{ id, approvalGateId: id, gateName: name, gateType: typeOf(gate), policyName: policy },
    ...{ approverGroups: approvers.groups, connectors },
  })
}

function requireGateCreation({ makesGates }: FormRoutesDeps): void {
  if (makesGates) return
  throw new AppError(
    'forbidden',
    'Stage forms may not create gates. Set gates.fromStages, or declare the gate in gates.definitions or gates.runtimePolicies.',
    { code: 'no_gates_from_stages' },
  )
}

function noPipeline(id: number): AppError {
  return new AppError('not_found', `no pipeline has the number ${id}; save the stage again`)
}

function noAccount(name: string): AppError {
  return new AppError('not_found', `account ${JSON.stringify(name)} not found in connectors.accounts`)
}
