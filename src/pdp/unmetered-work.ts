import { AppError } from '../errors.js'
import type { WorkMeter } from './work-meter.js'

/** For what is done outside of any evaluation, where the sizes of what is read bound it, or a thread that can be ended. */
export const UNMETERED_WORK: WorkMeter = {
  spend: () => undefined,
  reserve: () => undefined,
  exceed: (reason) => {
    throw new AppError('invalid', reason)
  },
}
