import { AppError } from '../../errors/app-error.js'
import { nearestName } from '../../lib/text/nearest-name.js'
import type { ServiceClient } from '../session/service-client.js'
import { GatesAnswer } from './answers.js'
import type { GateAnswer } from './answers.js'

/** Of more gates than these, not all are named to who has written none of them. */
const MAX_NAMED = 10

/** The number of the gate that is named by it or by its name. Raises `not_found` naming the gate that was meant, `conflict` where several have the name. */
export async function findGate(client: ServiceClient, written: string): Promise<string> {
  if (/^\d+$/.test(written)) return written
  const { gates } = await client.ask(GatesAnswer, { path: '/approvalGates' })
  const named = gates.filter(({ name }) => name === written)
  const [found, other] = named
  if (found === undefined)
    throw new AppError('not_found', `no gate is called '${written}'${hint(written, gates)}`)
  if (other === undefined) return String(found.id)
  throw new AppError(
    'conflict',
    `several gates are called '${written}': name one by its number, ${named.map(({ id }) => id).join(', ')}`,
  )
}

function hint(written: string, gates: readonly GateAnswer[]): string {
  const names = [...new Set(gates.map(({ name }) => name))]
  const nearest = nearestName(written, names)
  if (nearest !== undefined) return `, did you mean ${nearest}?`
  if (names.length === 0) return ': none are declared'
  return names.length > MAX_NAMED
    ? `: tidegate gates list tells the ${names.length} that there are`
    : `; there are ${names.join(', ')}`
}
