/** Put together here, so that no scanner takes this file for one with secrets. */
const join = (...parts: readonly string[]): string => parts.join('')
const MIXED = 'aB3dE5gH7jK9'.repeat(16)
const HEX = '0a1b2c3d'.repeat(20)
const UPPER = 'A1B2C3D4E5F6G7H8'.repeat(8)
const DIGITS = '1234567890'
const jsonPart = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const gitLab = ['pat', 'rt', 'dt', 'cbt', 'ptt', 'ft', 'imt', 'agent', 'oas', 'soat', 'ffct']

/** Tokens with a recognizable form: the kind, and an example in the issuer's format. */
export const TOKENS: readonly (readonly [string, string])[] = [
  ...gitLab.map(
    (kind) => [`a token of GitLab (${kind})`, join('gl', kind, '-', MIXED.slice(0, 20))] as const,
  ),
  ['a routable token of GitLab', join('gl', 'pat-', MIXED.slice(0, 27), '.01.', MIXED.slice(0, 9))],
  ['a token of PyPI', join('py', 'pi-', MIXED.slice(0, 150))],
  ['a key of SendGrid', join('S', 'G.', MIXED.slice(0, 22), '.', MIXED.slice(0, 43))],
  ['a key of the Google API', join('AI', 'za', MIXED.slice(0, 35))],
  ['an access token of Google', join('ya', '29.', MIXED.slice(0, 120))],
  ['a client secret of Google', join('GOC', 'SPX-', MIXED.slice(0, 28))],
  ...['dop', 'doo', 'dor'].map(
    (kind) => [`a token of DigitalOcean (${kind})`, join(kind, '_v1_', HEX.slice(0, 64))] as const,
  ),
  ['an age key', join('AGE-', 'SECRET-KEY-1', UPPER.slice(0, 58))],
  ...['p', 'o', 'u', 's', 'r'].map(
    (kind) => [`a token of GitHub (${kind})`, join('gh', kind, '_', MIXED.slice(0, 36))] as const,
  ),
  ['a fine-grained token of GitHub', join('github', '_pat_', MIXED.slice(0, 82))],
  ['an access key of AWS', join('AK', 'IA', UPPER.slice(0, 16))],
  ['a temporary access key of AWS', join('AS', 'IA', UPPER.slice(0, 16))],
  ['a bot token of Slack', join('xo', 'xb-', DIGITS, '-', DIGITS, '-', MIXED.slice(0, 24))],
  ['a user token of Slack', join('xo', 'xp-', DIGITS, '-', DIGITS, '-', HEX.slice(0, 32))],
  ['an app token of Slack', join('xa', 'pp-1-A0B1C2D3E4F-', DIGITS, '-', HEX.slice(0, 64))],
  [
    'a JSON Web Token',
    join(jsonPart({ alg: 'HS256' }), '.', jsonPart({ sub: 'ana' }), '.', MIXED.slice(0, 43)),
  ],
  ['a key of Stripe', join('sk', '_live_', MIXED.slice(0, 24))],
  ['a restricted key of Stripe', join('rk', '_live_', MIXED.slice(0, 24))],
  ['a key of OpenAI', join('sk', '-proj-', MIXED.slice(0, 74))],
  ['a key of Anthropic', join('sk', '-ant-api03-', MIXED.slice(0, 93), 'AA')],
  ['a token of npm', join('np', 'm_', MIXED.slice(0, 36))],
  ['a token of Docker', join('dckr', '_pat_', MIXED.slice(0, 27))],
  ['a token of Vault', join('hv', 's.', MIXED.slice(0, 95))],
  ['a batch token of Vault', join('hv', 'b.', MIXED.slice(0, 150))],
  ['a token of Terraform', join(MIXED.slice(0, 14), '.atlas', 'v1.', MIXED.slice(0, 64))],
  ['a client secret of Azure', join('abc8', 'Q~', MIXED.slice(0, 34))],
  ['a token of Atlassian', join('ATA', 'TT3', MIXED.slice(0, 186))],
  ['a key of Alibaba Cloud', join('LT', 'AI', MIXED.slice(0, 20))],
  ['a token of Databricks', join('da', 'pi', HEX.slice(0, 32))],
  ['a token of Doppler', join('dp.', 'pt.', MIXED.slice(0, 43))],
  ['a token of Dynatrace', join('dt0', 'c01.', UPPER.slice(0, 24), '.', UPPER.slice(0, 64))],
  ['a token of Grafana', join('gl', 'sa_', MIXED.slice(0, 32), '_', HEX.slice(0, 8))],
  ['a token of Hugging Face', join('h', 'f_', 'aBcDeFgHiJ'.repeat(4).slice(0, 34))],
  ['a token of Heroku', join('HR', 'KU-', MIXED.slice(0, 60))],
  ['a key of Linear', join('lin', '_api_', MIXED.slice(0, 40))],
  ['a key of New Relic', join('NR', 'AK-', UPPER.slice(0, 27))],
  ['a token of Notion', join('nt', 'n_', DIGITS, '1', MIXED.slice(0, 35))],
  ['a key of Octopus Deploy', join('AP', 'I-', UPPER.slice(0, 26))],
  ['a token of OpenShift', join('sha', '256~', MIXED.slice(0, 43))],
  ['a token of PlanetScale', join('pscale', '_tkn_', MIXED.slice(0, 43))],
  ['a key of Postman', join('PM', 'AK-', HEX.slice(0, 24), '-', HEX.slice(0, 34))],
  ['a token of Pulumi', join('pu', 'l-', HEX.slice(0, 40))],
  ['a key of RubyGems', join('ruby', 'gems_', HEX.slice(0, 48))],
  ['a token of Sentry', join('sntr', 'yu_', HEX.slice(0, 64))],
  ['a token of Shopify', join('shp', 'at_', HEX.slice(0, 32))],
  ['a key of Tailscale', join('ts', 'key-auth-', MIXED.slice(0, 16), '-', MIXED.slice(0, 32))],
  ['a key of Twilio', join('S', 'K', HEX.slice(0, 32))],
  ['a secret of webhooks', join('wh', 'sec_', MIXED.slice(0, 32))],
]

/** Names under which a text is a secret. */
export const SECRET_NAMES: readonly string[] = [
  ...[
    'pass',
    'Pass',
    'PASS',
    'pw',
    'PW',
    'pwd',
    'PWD',
    'pswd',
    'passwd',
    'password',
    'passphrase',
    'creds',
    'psk',
  ],
  ...[
    'dbPass',
    'db_pass',
    'DB_PASS',
    'db-pass',
    'dbpass',
    'adminPw',
    'admin_pw',
    'ADMIN_PW',
    'admin-pw',
    'adminPW',
  ],
  ...[
    'shopPass',
    'SHOP_PASS',
    'user_pwd',
    'MYSQL_PWD',
    'dbCreds',
    'DB_CREDS',
    'wifiPsk',
    'GH_PAT',
    'github-pat',
  ],
  ...[
    'accountKey',
    'AccountKey',
    'account_key',
    'ACCOUNT_KEY',
    'account-key',
    'masterKey',
    'MASTER_KEY',
    'apiKey',
  ],
  ...[
    'licenseKey',
    'hmac_key',
    'webhookKey',
    'accessKey',
    'privateKey',
    'clientSecret',
    'authToken',
    'DB_PASS_2',
  ],
]
