import { Hono } from 'hono'
import { z } from 'zod'

import { GateDefinitionSchema } from '../../../config/sections/gates.js'
import type { Role } from '../../../config/sections/auth.js'
import { changeGate, createGate, removeGate } from '../../../gates/definitions/declare-gates.js'
import { requireGate } from '../../../gates/instances/find-or-raise.js'
import { gateView, instanceView, triggerView } from '../../../gates/instances/instance-view.js'
import { reserveInstance } from '../../../gates/triggering/reserve-instance.js'
import { ContractTriggerBody, Word } from '../../../gates/triggering/trigger-body.js'
import { triggerGate } from '../../../gates/triggering/trigger-gate.js'
import type { AppEnv, Exchange } from '../../exchange/exchange.js'
import type { Authenticate } from '../../pipeline/authenticate.js'
import { actorOf } from '../../exchange/caller-of.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'
import { readTrigger } from './read-trigger.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { requirePathNumber } from '../../input/path-number.js'
import { readJsonBody } from '../../input/read-json-body.js'

const READERS: readonly Role[] = ['orchestrator', 'approver', 'auditor']
/** The id as the trigger reads it, which looks for the reservation by it. */
const ReserveBody = z.looseObject({ executionId: Word })

/** `/approvalGates`: the gates themselves, and the trigger as the contract writes it (4.2). */
export function gateRoutes(authenticate: Authenticate, deps: GateRoutesDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  const { writer, lookups, maxBodyBytes } = deps
  const enter = (exchange: Exchange, handler: string, roles: readonly Role[]): Exchange => {
    exchange.handler = handler
    authenticate(exchange, roles)
    return exchange
  }
  const gateIdOf = (text: string | undefined): number => requirePathNumber(text, 'approval gate')
  app.get('/', async (c) => {
    enter(c.env.exchange, 'gates', READERS)
    return jsonAnswer({ gates: (await lookups.gates.listGates()).map(gateView) })
  })
  app.get('/:id', async (c) => {
    enter(c.env.exchange, 'gates', READERS)
    return jsonAnswer(gateView(await requireGate(lookups.gates, gateIdOf(c.req.param('id')))))
  })
  app.post('/', async (c) => {
    const exchange = enter(c.env.exchange, 'gates', [])
    const definition = await readJsonBody(exchange, GateDefinitionSchema, maxBodyBytes)
    const gate = await writer.run(createGate, { definition, actor: actorOf(exchange, deps) })
    return jsonAnswer(gateView(gate), 201, { Location: `/approvalGates/${gate.id}` })
  })
  app.put('/:id', async (c) => {
    const exchange = enter(c.env.exchange, 'gates', [])
    const gateId = gateIdOf(c.req.param('id'))
    const definition = await readJsonBody(exchange, GateDefinitionSchema, maxBodyBytes)
    return jsonAnswer(
      gateView(await writer.run(changeGate, { gateId, definition, actor: actorOf(exchange, deps) })),
    )
  })
  app.delete('/:id', async (c) => {
    const exchange = enter(c.env.exchange, 'gates', [])
    const gateId = gateIdOf(c.req.param('id'))
    return jsonAnswer(gateView(await writer.run(removeGate, { gateId, actor: actorOf(exchange, deps) })))
  })
  app.post('/:id/reserve', async (c) => {
    const exchange = enter(c.env.exchange, 'gates.reserve', ['orchestrator'])
    const gateId = gateIdOf(c.req.param('id'))
    const { executionId } = await readJsonBody(exchange, ReserveBody, maxBodyBytes)
    const request = { gateId, executionId, actor: actorOf(exchange, deps) }
    return jsonAnswer(instanceView(await writer.run(reserveInstance, request)))
  })
  app.post('/:id/trigger', async (c) => {
    const exchange = enter(c.env.exchange, 'gates.trigger', ['orchestrator'])
    const gateId = gateIdOf(c.req.param('id'))
    const request = await readTrigger(exchange, gateId, ContractTriggerBody, deps)
    const { instance } = await writer.run(triggerGate, request)
    deps.triggered(instance.id)
    return jsonAnswer(triggerView(instance))
  })
  return app
}
