import { loadConfig } from '../../src/config/load-config.js'

/** Default limits of one evaluation. */
export const DEFAULT_LIMITS = loadConfig({ env: {} }).policies.limits
