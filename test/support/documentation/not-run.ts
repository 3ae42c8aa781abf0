/**
 * Commands of the documentation that its test does not run, with the reason: the test that runs
 * them instead, or their requirements.
 */
export const NOT_RUN: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^make demo/, 'test/e2e/demo.test.ts runs it'],
  [/^make (?:run|build|test|check|bench)\b/, 'it installs, or runs for minutes, this test among the rest'],
  [/TIDEGATE_TOKEN=TOKEN/, 'test/e2e/demo.test.ts decides at that gate'],
  [/serve --config tidegate\.yaml --addr 0\.0\.0\.0/, 'would listen beyond this machine'],
  [/--verification-key/, 'needs signed bundles; test/e2e/bundle-keys.test.ts makes them'],
  [/^npm install -g/, 'test/e2e/package.test.ts installs the package'],
  [/pki\.example\.org/, 'needs a certificate authority'],
  [/--watch/, 'runs until it is stopped; test/cli/watch.test.ts does'],
  [/impact .*--against sha256/, 'needs an earlier revision; test/e2e/impact.test.ts has one'],
  [/impact --shadow/, 'needs a shadow; test/e2e/shadow.test.ts has one'],
  [/impact .*--fail-on/, 'depends on the time of evaluations; test/e2e/impact.test.ts runs it'],
  [/opa install/, 'downloads; test/cli/opa-install.test.ts has a mirror of its own'],
  [/ndBuiltinCache|nd-builtin-cache/, 'needs a server to call; test/cli/policy-requests.test.ts has one'],
  [/^(?:kubectl|podman|helm|systemctl) /, 'needs a cluster, a container engine or systemd'],
  [/postgres:\/\/|^pg_/, 'needs PostgreSQL; test/e2e/several-machines.test.ts and others start one'],
  [/opa\.yaml/, 'needs a server of bundles; test/e2e/policy-sources.test.ts has one'],
  [/--as armory|opa\/pipelines/, 'needs policies of Armory; test/e2e/armory.test.ts has them'],
  [/capabilities\.json/, 'needs jq; test/rego/opa/capabilities.test.ts compiles with such a file'],
  [/gates (?:delegate|revoke)/, 'needs two people; test/e2e/approval-rules.test.ts has them'],
  [/sessions revoke/, 'needs a browser; test/e2e/sign-on.test.ts has one'],
  [/notifications test/, 'needs a channel; test/e2e/notifications.test.ts has some'],
  [/tidegate reload/, 'needs a token; test/cli/signals.test.ts reloads with one'],
  [/ACCESS_TOKEN/, 'needs an identity provider; test/e2e/sign-on.test.ts has one'],
  [/…/, 'is cut short'],
]

/** Why a command is not run. Undefined if it is. */
export function reasonNotToRun(command: string): string | undefined {
  return NOT_RUN.find(([pattern]) => pattern.test(command))?.[1]
}
