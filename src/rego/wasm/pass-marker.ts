import type { Tracer } from '../builtins/shared/builtin.js'
import type { WorkMeter } from '../metering/work-meter.js'
import type { HostValues } from './host-values.js'

/**
 * Passes a call of `sprintf` to the tracer if it marks a step of an explanation. Values are read
 * only if the tracer needs them. Returns false for a call of the policies.
 */
export function passMarker(
  tracer: Tracer,
  values: HostValues,
  meter: WorkMeter,
  [format = 0, operands = 0]: readonly number[],
): boolean {
  const name = Buffer.from(values.textBytes(format, meter) ?? '').toString()
  const kind = tracer.count(name)
  if (kind === 'record') tracer.record(name, values.read(operands, meter))
  return kind !== 'other'
}
