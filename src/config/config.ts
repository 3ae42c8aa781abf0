import { z } from 'zod'

import { AnalysisSection } from './sections/analysis.js'
import { AuditSection } from './sections/audit.js'
import { AuthSection } from './sections/auth.js'
import { CallbacksSection } from './sections/callbacks.js'
import { ConnectorsSection } from './sections/connectors.js'
import { DecisionsSection } from './sections/decisions.js'
import { GatesSection } from './sections/gates.js'
import { key } from './values/key.js'
import { LogSection } from './sections/log.js'
import { NotificationsSection } from './sections/notifications.js'
import { OrchestratorSection } from './sections/orchestrator.js'
import { PoliciesSection } from './sections/policies.js'
import { ServerSection } from './sections/server.js'
import { StatusSection } from './sections/status.js'
import { StoreSection } from './sections/store.js'
import { TelemetrySection } from './sections/telemetry.js'

/** The schema of the configuration. Every key has a default, so `{}` is valid. */
export const ConfigSchema = z.strictObject({
  server: ServerSection.prefault({}),
  auth: AuthSection.prefault({}),
  policies: PoliciesSection.prefault({}),
  dataDir: key(
    z.string().min(1).default('data'),
    'Directory of the databases. Created if absent.',
    'the path of a directory',
  ),
  store: StoreSection.prefault({}),
  decisions: DecisionsSection.prefault({}),
  audit: AuditSection.prefault({}),
  gates: GatesSection.prefault({}),
  callbacks: CallbacksSection.prefault({}),
  connectors: ConnectorsSection.prefault({}),
  analysis: AnalysisSection.prefault({}),
  notifications: NotificationsSection.prefault({}),
  orchestrator: OrchestratorSection.prefault({}),
  telemetry: TelemetrySection.prefault({}),
  status: StatusSection.prefault({}),
  log: LogSection.prefault({}),
})

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T

/** The effective configuration: complete, validated and frozen. Sizes are in bytes. */
export type Config = DeepReadonly<z.output<typeof ConfigSchema>>
