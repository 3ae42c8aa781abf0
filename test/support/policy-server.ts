import { nopDecisionLog } from '../../src/decisions/decision-log.js'
import type { DecisionEntry } from '../../src/decisions/decision-log.js'
import type { PolicyContext } from '../../src/http/policy/decision.js'
import { Enforcement } from '../../src/enforcement/enforcement.js'
import { ExceptionBook } from '../../src/enforcement/exceptions/exception-book.js'
import type { TokenRecord } from '../../src/http/pipeline/authenticate.js'
import { policyRoutes } from '../../src/http/policy/policy-routes.js'
import { Evaluations } from '../../src/rego/slow/evaluations.js'
import type { Snapshot } from '../../src/rego/snapshot/snapshot.js'
import { loadPolicies } from './load-policies.js'
import { startRoutesServer } from './routes-server.js'
import type { RoutesServer } from './routes-server.js'
import { makeSlowEvaluations, startOnThisThread } from './slow-evaluations.js'

/** A decision as it is logged, with its input and result as text. */
export type RecordedDecision = Omit<DecisionEntry, 'input' | 'result'> & {
  readonly input: string | undefined
  readonly result: string | undefined
}

/** The policy routes over a server of their own. */
interface PolicyServer {
  readonly server: RoutesServer
  readonly snapshot: Snapshot
  readonly decisions: readonly RecordedDecision[]
}

const textOf = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString()

/** Serves the policy routes. Stop the server after the tests. */
export async function startPolicyServer(
  policies: Readonly<Record<string, string>>,
  settings: Partial<PolicyContext> = {},
  tokens: readonly TokenRecord[] = [],
): Promise<PolicyServer> {
  const snapshot = await loadPolicies(policies)
  const decisions: RecordedDecision[] = []
  const context: PolicyContext = {
    policies: { current: snapshot },
    evaluations: new Evaluations({
      slow: makeSlowEvaluations(startOnThisThread),
      sliceMs: 1000,
      abandoned: () => undefined,
    }),
    enforcement: new Enforcement({ levels: [], exceptions: new ExceptionBook() }),
    decisionLog: {
      ...nopDecisionLog,
      record: ({ input, result, ...entry }) =>
        void decisions.push({ ...entry, input: textOf(input), result: textOf(result) }),
    },
    isLogging: true,
    ndBuiltinCacheBytes: 0,
    maxBodyBytes: 10_000,
    maxRequestMs: 60_000,
    readYaml: () => Promise.reject(new Error('no YAML here')),
    staticPackages: ['static.*'],
    defaultDecision: 'app/allow',
    accessDecision: undefined,
    version: '1.2.3',
    nextDecisionId: () => `decision-${decisions.length}`,
    evaluated: () => undefined,
    warned: () => undefined,
    ...settings,
  }
  const server = await startRoutesServer(
    policyRoutes.map((route) => route.bind(context)),
    { tokens },
  )
  return { server, snapshot, decisions }
}
