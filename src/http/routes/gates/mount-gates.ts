import type { Hono } from 'hono'

import type { AppEnv } from '../../exchange/exchange.js'
import type { Authenticate } from '../../pipeline/authenticate.js'
import { gateInstanceRoutes } from './gate-instances.js'
import { gateLookupRoutes } from './gate-lookup.js'
import { gatePluginRoutes } from './gate-plugins.js'
import { gateRoutes } from './gates.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'

/** Adds all that is asked about gates: by the contract, by people and by the orchestrator's plugins. */
export function mountGates(app: Hono<AppEnv>, authenticate: Authenticate, deps: GateRoutesDeps): void {
  app.route('/approvalGates', gateRoutes(authenticate, deps))
  app.route('/approvalGateInstances', gateInstanceRoutes(authenticate, deps))
  app.route('/visibilityservice', gatePluginRoutes(authenticate, deps))
  app.route('/platformservice', gateLookupRoutes(authenticate, deps))
}
