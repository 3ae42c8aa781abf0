import { wrongUse } from '../output/report-failure.js'

/** Where the service has an instance. Raises `invalid` for what is no number. */
export function instancePath(id: string): string {
  return `/approvalGateInstances/${requireNumber(id, 'an instance')}`
}

/** Where the service has a gate. Raises `invalid` for what is no number. */
export function gatePath(id: string): string {
  return `/approvalGates/${requireNumber(id, 'a gate')}`
}

function requireNumber(text: string, what: string): string {
  if (/^\d+$/.test(text)) return text
  throw wrongUse(`${what} is named by its number, not "${text}"`)
}
