export { MANIFEST_FILE, type OwnManifest, readOwnManifest } from './archive/manifest.js'
export { readBundle } from './archive/read-bundle.js'
export { unpackBundle } from './archive/unpack-bundle.js'
export { isJwsAlgorithm } from './builtins/jwt/signature.js'
export { certificatesJson, hostBuiltins } from './builtins/index.js'
export {
  type RecordedCalls,
  packCalls,
  unpackCalls,
  unpackMissing,
} from './builtins/shared/recorded-calls.js'
export { parseDuration } from './builtins/time/parse-duration.js'
export { yamlToJson } from './builtins/yaml/yaml.js'
export { packBundle } from './bundle/pack-bundle.js'
export { packSources } from './bundle/pack-bundle.js'
export { type PackedPublication, type PublishRequest, packPublication } from './bundle/publish-bundle.js'
export { type BundleSigner, readSigningKey, verificationBy } from './bundle/signing/sign-bundle.js'
export {
  type BundleKey,
  type BundleVerification,
  NO_VERIFICATION,
  type SignatureDemand,
  readBundleKey,
} from './bundle/signing/verification.js'
export { MAX_PORTABLE_ENTRYPOINTS } from './compile/build-module.js'
export { collectSources, isTestFile } from './compile/collect-sources.js'
export { type CompiledPolicies, compilePolicies } from './compile/compile-policies.js'
export { listSourceTree } from './compile/files/list-source-files.js'
export { keepBuilds } from './compile/kept-builds.js'
export { compileError, readOpaErrors, withNearNames, withTypes } from './modules/opa-errors.js'
export { parseModules } from './modules/parse-modules.js'
export { syntaxTrees } from './modules/syntax-trees.js'
export { withFiles } from './modules/rego-module.js'
export { sourceFiles, stageBundle } from './modules/stage-bundle.js'
export { parseDataFile, readData } from './data/base-document.js'
export { type DataFile, type LoadedData, loadData } from './data/load-data.js'
export {
  type Denial,
  type PackageDenials,
  type Warning,
  denialsByPackage,
  textsOf,
} from './evaluation/denial.js'
export { type AdviceRequest, evaluateAdvice, hasWarnRule } from './evaluation/evaluate-advice.js'
export {
  type DocumentPlan,
  evaluateDocument,
  evaluateValue,
  hasDocument,
  planDocument,
} from './evaluation/evaluate-document.js'
export {
  type StaticVerdict,
  evaluateStaticPolicies,
  packageMatcher,
  selectPackages,
} from './evaluation/evaluate-static-policies.js'
export {
  evaluateRuntimePolicy,
  mayStateVerdict,
  packagePathOf,
} from './evaluation/evaluate-runtime-policy.js'
export { explainUndefined } from './evaluation/explain-undefined.js'
export { evaluateTraced } from './explain/evaluate-traced.js'
export {
  EXPLAIN_MODES,
  type ExplainMode,
  type Explanation,
  type PackageExplanation,
  explainEvaluations,
  pathsOf,
} from './explain/explain-evaluation.js'
export type {
  FailedCondition,
  RuleExplanation,
  RuleOutcome,
  RuleResult,
  ShownSample,
  ShownValue,
} from './explain/explain-rules.js'
export { changedPaths } from './explain/changed-paths.js'
export { definitionsOfReason, verdictDefinitions } from './explain/verdict-definitions.js'
export { type TracedPolicies, loadTraced } from './explain/traced-policies.js'
export { type ServedSnapshots, type Staged, chooseSnapshot } from './evaluation/choose-snapshot.js'
export { findApplication } from './evaluation/find-application.js'
export { packageLength } from './evaluation/find-entrypoints.js'
export { newCall, type NewCallOptions } from './evaluation/new-call.js'
export { questionOf } from './evaluation/package-question.js'
export { runtimePolicies } from './evaluation/evaluate-runtime-policy.js'
export { ARMORY_SAVE_PACKAGES } from './lint/armory-packages.js'
export { analyseParts } from './lint/analyse-parts.js'
export { EvaluatedPackages } from './lint/evaluated-packages.js'
export { checkInput } from './lint/check-input.js'
export { findMisnamedTests } from './lint/misnamed-tests.js'
export {
  type DownloadedBundle,
  type LoadOptions,
  type PolicyLocations,
  loadSnapshot,
} from './loading/load-snapshot.js'
export { locationNames } from './loading/location-names.js'
export type { LoadObserver } from './loading/load-failure.js'
export { Policies } from './loading/policies.js'
export type { PolicyChange, Stage } from './loading/replacement.js'
export { readParts } from './loading/read-parts.js'
export { readTests } from './loading/read-tests.js'
export { type CostMeasurements, EvaluationCost } from './metering/evaluation-cost.js'
export {
  NEW_FILE,
  type CoveredInput,
  type PolicyTrial,
  type PolicyTrialResult,
  coverInputs,
  tryPolicies,
} from './playground/try-policies.js'
export { proxiesOf } from './opa/download.js'
export { type OpaProgram, findOpa, whyOpa } from './opa/find-opa.js'
export { installOpa } from './opa/install-opa.js'
export { installFolder, isRelease } from './opa/installed-opa.js'
export { DEFAULT_RELEASE, OFFICIAL_BASE } from './opa/official-releases.js'
export { opaLimits, type OpaLimits } from './opa/opa-limits.js'
export { opaRelease } from './opa/opa-release.js'
export { runOffline } from './opa/run-offline.js'
export { exceededLimit } from './opa/run-opa.js'
export { evaluateWithAnswers } from './requests/policy-requests.js'
export { ModuleParser } from './requests/module-parser.js'
export { ndBuiltinCache } from './requests/nd-builtin-cache.js'
export { PolicyRequests } from './requests/policy-requests.js'
export { refusedRequests } from './requests/request-settings.js'
export { type ReplayedCalls, replayCalls } from './requests/replayed-calls.js'
export { KeptRevisions, type KeptSources, type RevisionSources } from './revisions/kept-revisions.js'
export type { PinnedRevision, StagedPin } from './revisions/pinned-revision.js'
export { type KeptRevision, RevisionActivation, RevisionImpact } from './revisions/revision-activation.js'
export { NO_METRICS, type RequestMetrics } from './requests/request-metrics.js'
export { Evaluations } from './slow/evaluations.js'
export type { EvaluateOptions, EvaluationsOptions } from './slow/evaluations-options.js'
export {
  type Answered,
  type FromSlowThread,
  type SlowFailure,
  type SlowRequest,
  type SlowThread,
  type SlowThreadEvents,
  givenAway,
} from './slow/messages.js'
export {
  ArrivingSnapshots,
  type PortableSnapshot,
  toPortable,
  withoutModules,
} from './slow/portable-snapshot.js'
export { type PackedSnapshot, packSnapshot, unpackSnapshot } from './slow/packed-snapshot.js'
export { serveQuestions } from './slow/serve-questions.js'
export { SlowEvaluations, type SlowTicket } from './slow/slow-evaluations.js'
export { SlowRunner, type SlowRunnerOptions } from './slow/slow-runner.js'
export { unpackFailure } from './slow/slow-failure.js'
export { type Answer, type Question, isMissing } from './slow/question.js'
export { type StrictBuiltinErrors, type Strictness, strictnessOf } from './slow/strict-builtin-errors.js'
export {
  type PublicNames,
  namesWithoutPlace,
  publicDetail,
  publicNames,
  withPublicNames,
} from './snapshot/public-names.js'
export type { Snapshot, SourceText } from './snapshot/snapshot.js'
export { LEVELS, type Level, type StatedLevel } from './values/level.js'
export { type FileCoverage, type LineCoverage, coveragePercent } from './testing/coverage.js'
export type { FailedExpression } from './testing/failed-expressions.js'
export {
  type Benchmark,
  type OpaTest,
  type TestCase,
  addVariableValues,
  benchmarkTests,
  measureCoverage,
  ruleName,
  rulePath,
  runOpaTests,
} from './testing/opa-tests.js'
export { type PackageTestRun, testPackage } from './testing/test-package.js'
export { type StagedTests, stageTests } from './testing/stage-tests.js'
export type { Trace } from './tracing/trace.js'
export { parseDataPath, withoutDataRoute } from './values/data-path.js'
export { packagePath } from './values/package-line.js'
export { pathKey, pathOfKey } from './values/path-key.js'
export { printDataRef, printPackageName } from './values/print-data-ref.js'
export { printJson } from './values/print-text.js'
export { RegoNumber, RegoObject, RegoSet, type RegoValue } from './values/value.js'
export { DENY_RULES, VERDICT_RULES, verdictOf } from './values/verdict-rules.js'
export { EditedData, editData } from './writing/edit-data.js'
export { type DataChange, isArray, pathText } from './writing/change-inside.js'
export {
  type StoredModule,
  type StoredPolicies,
  deleteModule,
  findModule,
  putModule,
  refuseOwned,
} from './writing/stored-policies.js'
export { NOTHING_WRITTEN } from './writing/written-policies.js'
export type { DataImage } from './wasm/data/data-image.js'
export type { EvaluationCall } from './wasm/evaluation-call.js'
export type { EvaluationLimits } from './wasm/evaluation-limits.js'
export { type ModuleCode, compileModule } from './wasm/module-code.js'
