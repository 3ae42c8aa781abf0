import { loadConfig } from '../../src/config/load-config.js'

/** What one evaluation may use where nothing is configured. */
export const DEFAULT_LIMITS = loadConfig({ env: {} }).policies.limits
