import { z } from 'zod'

import { AnalysisSection } from './analysis.js'
import { AuditSection } from './audit.js'
import { AuthSection } from './auth.js'
import { CallbacksSection } from './callbacks.js'
import { ConnectorsSection } from './connectors.js'
import { DecisionsSection } from './decisions.js'
import { GatesSection } from './gates.js'
import { key } from './key.js'
import { LogSection } from './log.js'
import { OrchestratorSection } from './orchestrator.js'
import { PoliciesSection } from './policies.js'
import { ServerSection } from './server.js'

/** The whole configuration. Every key has a default, so that `{}` is a valid one. */
export const ConfigSchema = z.strictObject({
  server: ServerSection.prefault({}),
  auth: AuthSection.prefault({}),
  policies: PoliciesSection.prefault({}),
  dataDir: key(
    z.string().min(1).default('data'),
    'Where the service keeps its database. Made when absent.',
    'the path of a directory',
  ),
  decisions: DecisionsSection.prefault({}),
  audit: AuditSection.prefault({}),
  gates: GatesSection.prefault({}),
  callbacks: CallbacksSection.prefault({}),
  connectors: ConnectorsSection.prefault({}),
  analysis: AnalysisSection.prefault({}),
  orchestrator: OrchestratorSection.prefault({}),
  log: LogSection.prefault({}),
})

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T

/** The effective configuration: complete, checked and frozen. Sizes are bytes. */
export type Config = DeepReadonly<z.output<typeof ConfigSchema>>
