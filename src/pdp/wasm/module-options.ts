import type { BuiltinTable } from '../builtins/builtin.js'
import type { EvaluationLimits } from './evaluation-limits.js'

/** What a policy module is loaded with. */
export interface PolicyModuleOptions {
  /** The built-ins that the host gives to the module, by name. */
  readonly builtins: BuiltinTable
  readonly limits: EvaluationLimits
  /** The base documents (`data`), as JSON text. */
  readonly data: Uint8Array
}
