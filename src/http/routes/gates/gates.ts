import { z } from 'zod'

import type { Role } from '../../../config/sections/roles.js'
import { GateDefinitionSchema } from '../../../config/sections/gates.js'
import { changeGate, createGate, removeGate } from '../../../gates/definitions/declare-gates.js'
import { requireGate } from '../../../gates/instances/find-or-raise.js'
import { gateView, instanceView, triggerView } from '../../../gates/instances/instance-view.js'
import { reserveInstance } from '../../../gates/triggering/reserve-instance.js'
import { ContractTriggerBody, Word } from '../../../gates/triggering/trigger-body.js'
import { triggerGate } from '../../../gates/triggering/trigger-gate.js'
import { actorOf } from '../../exchange/caller-of.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { jsonBody, jsonBodyWithBytes } from '../../input/body-reader.js'
import { numberOf } from '../../input/path-parameter.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { GateAnswer, InstanceAnswer, TriggerAnswer } from './gate-answers.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'
import { readTrigger } from './read-trigger.js'

const READERS: readonly Role[] = ['orchestrator', 'approver', 'auditor']
const ADMINS: readonly Role[] = ['admin']
/** Parsed like the trigger's id, which must match the reservation. */
const ReserveBody = z.looseObject({ executionId: Word })
const GATE = { id: numberOf('approval gate') }
const DECLARED = { description: 'The gate is declared in the configuration and can only be changed there.' }
const { route } = routesOf<GateRoutesDeps>()

/** `/approvalGates`: declaring gates. */
const declarationRoutes = [
  route({
    method: 'GET',
    path: '/approvalGates',
    roles: READERS,
    handler: 'gates',
    summary: 'All approval gates',
    answers: { 200: json('The gates.', z.object({ gates: z.array(GateAnswer) })) },
    answer: async (_, { lookups }) => jsonAnswer({ gates: (await lookups.gates.listGates()).map(gateView) }),
  }),
  route({
    method: 'GET',
    path: '/approvalGates/:id',
    roles: READERS,
    handler: 'gates',
    summary: 'One approval gate',
    params: GATE,
    answers: { 200: json('The gate.', GateAnswer) },
    answer: async ({ params }, { lookups }) =>
      jsonAnswer(gateView(await requireGate(lookups.gates, params.id))),
  }),
  route({
    method: 'POST',
    path: '/approvalGates',
    roles: ADMINS,
    handler: 'gates',
    summary: 'Declare an approval gate',
    body: jsonBody(GateDefinitionSchema),
    answers: {
      201: { ...json('The new gate.', GateAnswer), headers: { Location: 'Where the gate is.' } },
      409: { description: 'The gate already exists.' },
    },
    answer: async ({ exchange, body: definition }, deps) => {
      const gate = await deps.writer.run(createGate, { definition, actor: actorOf(exchange, deps) })
      return jsonAnswer(gateView(gate), 201, { Location: `/approvalGates/${gate.id}` })
    },
  }),
  route({
    method: 'PUT',
    path: '/approvalGates/:id',
    roles: ADMINS,
    handler: 'gates',
    summary: 'Change an approval gate',
    params: GATE,
    body: jsonBody(GateDefinitionSchema),
    answers: { 200: json('The gate.', GateAnswer), 409: DECLARED },
    answer: async ({ exchange, params: { id: gateId }, body: definition }, deps) => {
      const change = { gateId, definition, actor: actorOf(exchange, deps) }
      return jsonAnswer(gateView(await deps.writer.run(changeGate, change)))
    },
  }),
  route({
    method: 'DELETE',
    path: '/approvalGates/:id',
    roles: ADMINS,
    handler: 'gates',
    summary: 'Delete an approval gate; its instances remain',
    params: GATE,
    answers: { 200: json('The gate, which accepts no more triggers.', GateAnswer), 409: DECLARED },
    answer: async ({ exchange, params: { id: gateId } }, deps) =>
      jsonAnswer(gateView(await deps.writer.run(removeGate, { gateId, actor: actorOf(exchange, deps) }))),
  }),
]

/** Reserving and triggering gates in the API specification (4.2). */
const triggerRoutes = [
  route({
    method: 'POST',
    path: '/approvalGates/:id/reserve',
    roles: ['orchestrator'],
    handler: 'gates.reserve',
    summary: 'Reserve an instance before it is triggered',
    params: GATE,
    body: jsonBody(ReserveBody),
    answers: { 200: json('The instance.', InstanceAnswer) },
    answer: async ({ exchange, params: { id: gateId }, body: { executionId } }, deps) => {
      const request = { gateId, executionId, actor: actorOf(exchange, deps) }
      return jsonAnswer(instanceView(await deps.writer.run(reserveInstance, request)))
    },
  }),
  route({
    method: 'POST',
    path: '/approvalGates/:id/trigger',
    roles: ['orchestrator'],
    handler: 'gates.trigger',
    summary: 'Trigger an approval gate',
    params: GATE,
    body: jsonBodyWithBytes(ContractTriggerBody),
    answers: { 200: json('The instance.', TriggerAnswer) },
    answer: async ({ exchange, params, body }, deps) => {
      const { instance } = await deps.writer.run(triggerGate, readTrigger(exchange, params.id, body, deps))
      deps.triggered(instance)
      return jsonAnswer(triggerView(instance))
    },
  }),
]

/** All routes under `/approvalGates`. */
export const gateRoutes = [...declarationRoutes, ...triggerRoutes]
