/** Import rules (docs/explanation/architecture.md): imports point in one direction, without cycles. */
const features =
  '^src/(rego|canary|decisions|enforcement|gates|outbox|notifications|events|audit|analysis|orchestrator|impact|distribution|explain|telemetry)/'
/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-cycles-of-folders', severity: 'error', scope: 'folder', from: {}, to: { circular: true } },
    {
      name: 'engines-are-imported-through-their-index',
      comment: 'Dynamic imports may load parts on demand.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(rego|canary)/' },
      to: { path: '^src/(rego|canary)/(?!index\\.ts$)', dependencyTypesNot: ['dynamic-import'] },
    },
    {
      name: 'engines-know-nothing-of-the-service',
      severity: 'error',
      from: { path: '^src/(rego|canary)/' },
      to: { path: '^src/', pathNot: '^src/($1|lib|errors)/' },
    },
    {
      name: 'lib-and-errors-are-leaves',
      severity: 'error',
      from: { path: '^src/(lib|errors)/' },
      to: { path: '^src/', pathNot: '^src/(lib|errors)/' },
    },
    {
      name: 'config-knows-no-feature',
      severity: 'error',
      from: { path: '^src/config/' },
      to: { path: '^src/', pathNot: '^src/(config|lib|errors)/' },
    },
    {
      name: 'features-know-no-edge',
      severity: 'error',
      from: { path: features },
      to: { path: '^src/(http|cli|console|main|threads|cli\\.ts|store/(?!ports/))' },
    },
    {
      name: 'features-know-no-web-framework-or-driver',
      severity: 'error',
      from: { path: features },
      to: { path: 'node_modules/(hono|@hono|better-sqlite3|pg|kysely)/' },
    },
    {
      name: 'ports-know-no-engine-and-no-feature',
      severity: 'error',
      from: { path: '^src/store/ports/' },
      to: { path: '^src/', pathNot: '^src/(store/ports|lib|errors)/' },
    },
    {
      name: 'stores-know-their-ports-alone',
      severity: 'error',
      from: { path: '^src/store/' },
      to: { path: '^src/', pathNot: '^src/(store|lib|errors)/' },
    },
    {
      name: 'routes-know-no-driver',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: '^src/store/(?!ports/)|node_modules/(better-sqlite3|pg|kysely)/' },
    },
    {
      // It is slow to load and large, and a service that only decides does not need it.
      name: 'web-application-is-loaded-on-demand',
      severity: 'error',
      from: { path: '^src/main/' },
      to: {
        path: '^src/http/(route-lists|web-application)\\.ts$',
        dependencyTypesNot: ['dynamic-import', 'type-only'],
      },
    },
    {
      name: 'telemetry-is-loaded-on-demand',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/telemetry/' },
      to: { path: '^src/telemetry/(?!telemetry\\.ts$)', dependencyTypesNot: ['dynamic-import', 'type-only'] },
    },
    {
      name: 'worker-processes-load-no-web-application',
      severity: 'error',
      from: { path: '^src/main/worker-process/' },
      to: { path: '^src/http/(route-lists|web-application)\\.ts$', reachable: true },
    },
    {
      name: 'stores-are-opened-in-one-place',
      severity: 'error',
      from: {
        path: '^src/(main|cli|threads)/',
        pathNot:
          '^src/(main/(store/.*|open-decision-log|start-service)|threads/(store|decision-writer|decision-shipper))\\.ts$',
      },
      to: { path: '^src/store/(?!ports/)' },
    },
    {
      name: 'routes-neither-authenticate-nor-use-the-web-framework',
      comment: 'The pipeline authenticates callers for all routes.',
      severity: 'error',
      from: { path: '^src/http/(routes|policy)/' },
      to: { path: '^src/http/pipeline/(authenticate|guarded-routes)\\.ts$|node_modules/(hono|@hono)/' },
    },
    {
      name: 'decisions-know-no-rego',
      severity: 'error',
      from: { path: '^src/decisions/' },
      to: { path: '^src/rego/' },
    },
    {
      name: 'writing-decisions-takes-no-query-builder-and-no-schemas',
      severity: 'error',
      from: { path: '^src/threads/decision-writer\\.ts$' },
      to: { path: 'node_modules/(kysely|zod)/', reachable: true },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  },
}
