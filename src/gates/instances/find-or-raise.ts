import { AppError } from '../../errors/app-error.js'
import type { GateReader } from '../../store/ports/gate-store.js'
import type { Gate } from '../../store/ports/gate.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'

/** Returns the gate with an id. Raises `not_found`. */
export async function requireGate(gates: Pick<GateReader, 'findGate'>, gateId: number): Promise<Gate> {
  const gate = await gates.findGate(gateId)
  if (gate !== undefined) return gate
  throw new AppError('not_found', `there is no approval gate ${gateId}`)
}

/** Returns a gate that accepts instances. Raises `not_found`, or `conflict` for a removed gate. */
export async function requireEnabledGate(gates: Pick<GateReader, 'findGate'>, gateId: number): Promise<Gate> {
  const gate = await requireGate(gates, gateId)
  if (gate.type !== undefined && gate.type !== 'approval') {
    throw new AppError(
      'conflict',
      `the gate ${gateId} (${gate.name}) is for a stage of the type ${gate.type}`,
    )
  }
  if (gate.isEnabled) return gate
  throw new AppError('conflict', `the approval gate ${gateId} (${gate.name}) has been removed`)
}

/** Returns the instance with an id. Raises `not_found`. */
export async function requireInstance(
  gates: Pick<GateReader, 'findInstance'>,
  instanceId: number,
): Promise<GateInstance> {
  const instance = await gates.findInstance(instanceId)
  if (instance !== undefined) return instance
  throw new AppError('not_found', `there is no approval gate instance ${instanceId}`)
}
