/** Tokens of one issuer, recognized by their prefix. */
export interface TokenKind {
  readonly issuer: string
  /** In this letter case. */
  readonly prefixes: readonly string[]
  /** Regular expression of the text after the prefix, without a group. */
  readonly rest: string
  /** Regular expression of the text before the prefix, if the token starts earlier. */
  readonly lead?: string
}

const word = (min: number): string => String.raw`\w{${min},}`
const dashed = (min: number): string => String.raw`[\w-]{${min},}`
const dotted = (min: number): string => String.raw`[\w.=-]{${min},}`
const letters = (min: number): string => `[A-Za-z0-9]{${min},}`
const hex = (min: number): string => `[A-Fa-f0-9]{${min},}`
const base64 = (min: number): string => `[A-Za-z0-9+/]{${min},}={0,3}`

/**
 * Tokens with a distinctive prefix according to gitleaks 8.30, secretlint 13 and the documentation
 * of the issuers. Minimum lengths are shorter than the issuers', because a truncated token still
 * reveals most of it.
 */
export const TOKEN_KINDS: readonly TokenKind[] = [
  { issuer: '1Password', prefixes: ['ops_eyJ'], rest: base64(20) },
  { issuer: '1Password', prefixes: ['A3-'], rest: '[A-Z0-9]{6}-[A-Z0-9-]{20,}' },
  { issuer: 'Adobe', prefixes: ['p8e-'], rest: letters(32) },
  { issuer: 'age', prefixes: ['AGE-SECRET-KEY-1'], rest: '[A-Z0-9]{20,}' },
  { issuer: 'Alibaba Cloud', prefixes: ['LTAI'], rest: letters(16) },
  { issuer: 'Amazon Bedrock', prefixes: ['ABSK'], rest: base64(60) },
  { issuer: 'Artifactory', prefixes: ['AKCp'], rest: letters(40) },
  { issuer: 'Atlassian', prefixes: ['ATATT3', 'ATCTT3', 'ATBB'], rest: '[A-Za-z0-9_=-]{24,}' },
  { issuer: 'AWS', prefixes: ['AKIA', 'ASIA', 'ABIA', 'ACCA'], rest: '[A-Z0-9]{16}(?![A-Za-z0-9])' },
  { issuer: 'Azure', lead: String.raw`[\w~.]{3}\d`, prefixes: ['Q~'], rest: String.raw`[\w~.-]{31,34}` },
  { issuer: 'Buildkite', prefixes: ['bkua_'], rest: hex(30) },
  { issuer: 'CircleCI', prefixes: ['CCIPAT_', 'CCIPRJ_'], rest: word(20) },
  { issuer: 'ClickHouse', prefixes: ['4b1d'], rest: letters(38) },
  { issuer: 'Clojars', prefixes: ['CLOJARS_'], rest: letters(40) },
  { issuer: 'Cloudflare', prefixes: ['cfk_', 'cfut_', 'cfat_'], rest: letters(40) },
  { issuer: 'Cloudflare', prefixes: ['v1.0-'], rest: `${hex(24)}-${hex(100)}` },
  { issuer: 'Databricks', prefixes: ['dapi'], rest: hex(32) },
  { issuer: 'DigitalOcean', prefixes: ['dop_v1_', 'doo_v1_', 'dor_v1_'], rest: hex(32) },
  { issuer: 'Docker', prefixes: ['dckr_pat_', 'dckr_oat_'], rest: dashed(20) },
  {
    issuer: 'Doppler',
    prefixes: ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.', 'dp.scim.', 'dp.audit.'],
    rest: dotted(30),
  },
  { issuer: 'Duffel', prefixes: ['duffel_test_', 'duffel_live_'], rest: dashed(30) },
  { issuer: 'Dynatrace', prefixes: ['dt0c01.', 'dt0s01.', 'dt0s02.'], rest: dotted(24) },
  { issuer: 'EasyPost', prefixes: ['EZAK', 'EZTK'], rest: letters(50) },
  { issuer: 'Facebook', prefixes: ['EAAC', 'EAAM'], rest: letters(100) },
  { issuer: 'Figma', prefixes: ['figd_'], rest: dashed(36) },
  { issuer: 'Flutterwave', prefixes: ['FLWSECK-', 'FLWSECK_TEST-'], rest: letters(12) },
  { issuer: 'Fly.io', prefixes: ['fo1_'], rest: dashed(40) },
  { issuer: 'Fly.io', prefixes: ['fm1r_', 'fm1a_', 'fm2_'], rest: base64(60) },
  { issuer: 'Frame.io', prefixes: ['fio-u-'], rest: '[A-Za-z0-9_=-]{50,}' },
  { issuer: 'GitHub', prefixes: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'], rest: dotted(20) },
  {
    issuer: 'GitLab',
    prefixes: ['pat', 'rt', 'rtr', 'dt', 'cbt', 'ptt', 'ft', 'ffct', 'imt', 'agent', 'oas', 'soat'].map(
      (kind) => `gl${kind}-`,
    ),
    rest: dotted(16),
  },
  { issuer: 'GitLab', prefixes: ['GR1348941'], rest: dashed(20) },
  { issuer: 'Google', prefixes: ['AIza'], rest: dashed(35) },
  { issuer: 'Google', prefixes: ['ya29.', 'GOCSPX-'], rest: dashed(20) },
  { issuer: 'Grafana', prefixes: ['glc_', 'glsa_'], rest: String.raw`[\w+/=]{30,}` },
  { issuer: 'Groq', prefixes: ['gsk_'], rest: letters(40) },
  { issuer: 'Harness', prefixes: ['pat.', 'sat.'], rest: String.raw`[\w-]{22}\.[0-9a-f]{24}\.\w{20}` },
  { issuer: 'HashiCorp Vault', prefixes: ['hvs.', 'hvb.', 'hvr.'], rest: dashed(20) },
  { issuer: 'Heroku', prefixes: ['HRKU-'], rest: dashed(36) },
  { issuer: 'Hugging Face', prefixes: ['hf_', 'api_org_'], rest: letters(30) },
  { issuer: 'Infracost', prefixes: ['ico-'], rest: letters(32) },
  { issuer: 'JSON Web Token', prefixes: ['eyJ'], rest: String.raw`[\w-]{5,}\.[\w-]{5,}\.[\w-]*` },
  { issuer: 'Linear', prefixes: ['lin_api_', 'lin_oauth_'], rest: word(32) },
  { issuer: 'New Relic', prefixes: ['NRAK-', 'NRII-', 'NRJS-', 'NRAA-'], rest: dashed(19) },
  { issuer: 'Notion', prefixes: ['ntn_'], rest: letters(40) },
  { issuer: 'npm', prefixes: ['npm_'], rest: word(30) },
  { issuer: 'Octopus Deploy', prefixes: ['API-'], rest: '[A-Z0-9]{26,}' },
  { issuer: 'OpenAI', prefixes: ['sk-'], rest: letters(20) },
  {
    issuer: 'OpenAI and Anthropic',
    prefixes: ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-ant-', 'sk-or-'],
    rest: dashed(20),
  },
  { issuer: 'OpenShift', prefixes: ['sha256~'], rest: dashed(43) },
  { issuer: 'Perplexity', prefixes: ['pplx-'], rest: letters(40) },
  { issuer: 'PlanetScale', prefixes: ['pscale_tkn_', 'pscale_oauth_', 'pscale_pw_'], rest: dotted(30) },
  { issuer: 'Postman', prefixes: ['PMAK-'], rest: String.raw`[a-f0-9]{24}-[a-f0-9]{20,}` },
  { issuer: 'Prefect', prefixes: ['pnu_', 'pnb_'], rest: letters(36) },
  { issuer: 'Pulumi', prefixes: ['pul-'], rest: hex(40) },
  { issuer: 'PyPI', prefixes: ['pypi-'], rest: dashed(50) },
  { issuer: 'ReadMe', prefixes: ['rdme_'], rest: letters(50) },
  { issuer: 'RubyGems', prefixes: ['rubygems_'], rest: hex(40) },
  { issuer: 'Scalingo', prefixes: ['tk-us-'], rest: dashed(40) },
  { issuer: 'SendGrid', prefixes: ['SG.'], rest: String.raw`[\w-]{16,}\.[\w-]{16,}` },
  { issuer: 'Brevo', prefixes: ['xkeysib-', 'xsmtpsib-'], rest: dashed(40) },
  { issuer: 'Sentry', prefixes: ['sntrys_', 'sntryu_'], rest: String.raw`[\w+/=]{40,}` },
  { issuer: 'SettleMint', prefixes: ['sm_aat_', 'sm_pat_', 'sm_sat_'], rest: letters(16) },
  { issuer: 'Shippo', prefixes: ['shippo_live_', 'shippo_test_'], rest: hex(40) },
  { issuer: 'Shopify', prefixes: ['shpat_', 'shpca_', 'shppa_', 'shpss_'], rest: letters(32) },
  {
    issuer: 'Slack',
    prefixes: ['a', 'b', 'd', 'e', 'o', 'p', 'r', 's'].map((kind) => `xox${kind}-`),
    rest: dashed(10),
  },
  { issuer: 'Slack', prefixes: ['xapp-', 'xoxe.xoxb-', 'xoxe.xoxp-'], rest: dashed(20) },
  { issuer: 'Sourcegraph', prefixes: ['sgp_'], rest: word(40) },
  { issuer: 'Square', prefixes: ['sq0atp-', 'sq0csp-', 'EAAA'], rest: dashed(40) },
  { issuer: 'Standard Webhooks', prefixes: ['whsec_'], rest: base64(16) },
  { issuer: 'Stripe', prefixes: ['sk_', 'rk_'], rest: word(20) },
  { issuer: 'Tailscale', prefixes: ['tskey-'], rest: dashed(20) },
  { issuer: 'Terraform', lead: String.raw`\w{14}`, prefixes: ['.atlasv1.'], rest: dotted(40) },
  { issuer: 'Twilio', prefixes: ['SK'], rest: '[0-9a-f]{32}' },
  { issuer: 'Typeform', prefixes: ['tfp_'], rest: dotted(40) },
  { issuer: 'Vercel', prefixes: ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'], rest: letters(20) },
  { issuer: 'xAI', prefixes: ['xai-'], rest: letters(60) },
  { issuer: 'Yandex', prefixes: ['AQVN', 't1.'], rest: String.raw`[\w.=-]{35,}` },
]

/** Escapes a string for use in a regular expression. */
export function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)
}

/**
 * Regular expression of the start of a token: only an escape of JSON or of a URL may precede it.
 */
export const TOKEN_START = String.raw`(?:(?<![\w-])|(?<=\\(?:[bfnrt]|u[0-9A-Fa-f]{4})|%[0-9A-Fa-f]{2}))`

/** Regular expression of all tokens at their start. */
export const TOKENS = TOKEN_KINDS.map(
  ({ lead = '', prefixes, rest }) => `${lead}(?:${prefixes.map(literal).join('|')})${rest}`,
).join('|')
