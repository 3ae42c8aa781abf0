import type { WorkMeter } from '../work-meter.js'

/** The longest text that one built-in call may make, in UTF-16 units: far past any policy's need, far below the heap. */
const MAX_RESULT_LENGTH = 16 * 1024 * 1024

/** Ends the evaluation when a result of this length would be longer than a call may make. */
export function ensureResultLength(length: number, meter: WorkMeter): void {
  if (length > MAX_RESULT_LENGTH) {
    meter.exceed(`a built-in makes a text of more than ${MAX_RESULT_LENGTH} characters`)
  }
}
