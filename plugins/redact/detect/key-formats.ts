/**
 * Formats of keys and tokens, as their issuers or GitHub's and GitLab's secret scanning publish them. `prefix` is literal,
 * `rest` a bounded expression for what follows. A match ends where no further character of a word follows.
 */
import type { Kind } from './finding.ts'

/** A format with a literal beginning. */
export interface KeyFormat {
  readonly issuer: string
  readonly kind: Kind
  readonly prefix: string
  /** Source of a regular expression, with bounded repetitions of classes only. */
  readonly rest: string
}

const ALNUM = '[A-Za-z0-9]'
const URL_SAFE = '[A-Za-z0-9_-]'
const BASE64 = '[A-Za-z0-9+/]'
const HEX = '[0-9a-f]'

type Row = readonly [issuer: string, prefix: string, rest: string]

const API_KEYS: readonly Row[] = [
  ['Anthropic', 'sk-ant-', `${URL_SAFE}{20,200}`],
  ['OpenAI', 'sk-proj-', `${URL_SAFE}{20,220}`],
  ['OpenAI', 'sk-svcacct-', `${URL_SAFE}{20,220}`],
  ['OpenAI', 'sk-admin-', `${URL_SAFE}{20,220}`],
  ['OpenRouter', 'sk-or-v1-', `${HEX}{64}`],
  ['Langfuse', 'sk-lf-', `${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`],
  ['OpenAI, DeepSeek and compatible', 'sk-', `${ALNUM}{32,64}`],
  ['Google', 'AIza', `${URL_SAFE}{35}`],
  ['Groq', 'gsk_', `${ALNUM}{40,60}`],
  ['xAI', 'xai-', `${ALNUM}{60,100}`],
  ['Perplexity', 'pplx-', `${ALNUM}{40,60}`],
  ['Replicate', 'r8_', `${ALNUM}{37}`],
  ['Fireworks', 'fw_', `${ALNUM}{22,26}`],
  ['NVIDIA', 'nvapi-', `${URL_SAFE}{60,75}`],
  ['Hugging Face', 'hf_', `${ALNUM}{30,40}`],
  ['Hugging Face', 'api_org_', `${ALNUM}{34}`],
  ['Cerebras', 'csk-', `${ALNUM}{40,60}`],
  ['Pinecone', 'pcsk_', `${URL_SAFE}{40,90}`],
  ['LangSmith', 'lsv2_', `(?:pt|sk)_${HEX}{32}_${HEX}{10}`],
]

const CLOUD_KEYS: readonly Row[] = [
  ['AWS', 'AKIA', '[A-Z0-9]{16}'],
  ['AWS', 'ASIA', '[A-Z0-9]{16}'],
  ['AWS', 'ABIA', '[A-Z0-9]{16}'],
  ['AWS', 'ACCA', '[A-Z0-9]{16}'],
  ['AWS Bedrock', 'ABSK', `${BASE64}{100,300}={0,2}`],
  ['AWS Bedrock', 'bedrock-api-key-', `${BASE64}{40,2000}={0,2}`],
  ['Google OAuth', 'GOCSPX-', `${URL_SAFE}{28}`],
  ['Google OAuth', 'ya29', `\\.${URL_SAFE}{20,400}`],
  ['Google OAuth', '1', `//0${URL_SAFE}{40,120}`],
  ['DigitalOcean', 'dop_v1_', `${HEX}{64}`],
  ['DigitalOcean', 'doo_v1_', `${HEX}{64}`],
  ['DigitalOcean', 'dor_v1_', `${HEX}{64}`],
  ['Databricks', 'dapi', `${HEX}{32}(?:-\\d)?`],
  ['Alibaba Cloud', 'LTAI', `${ALNUM}{12,26}`],
  ['Tencent Cloud', 'AKID', `${ALNUM}{32}`],
  ['Heroku', 'HRKU-', `${URL_SAFE}{36,64}`],
  ['PlanetScale', 'pscale_', `(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,64}`],
  ['Supabase', 'sbp_', `${HEX}{40}`],
  ['Supabase', 'sb_secret_', `${URL_SAFE}{20,60}`],
  ['HashiCorp Vault', 'hvs', `\\.${URL_SAFE}{24,140}`],
  ['HashiCorp Vault', 'hvb', `\\.${URL_SAFE}{130,220}`],
  ['Pulumi', 'pul-', `${HEX}{40}`],
  ['Tailscale', 'tskey-', `(?:auth|api|client)-${ALNUM}{8,24}-${ALNUM}{16,48}`],
  ['age', 'AGE-SECRET-KEY-1', '[A-Z0-9]{58}'],
]

const TOKENS: readonly Row[] = [
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((prefix): Row => ['GitHub', prefix, `${ALNUM}{36,255}`]),
  ['GitHub', 'github_pat_', `${ALNUM}{22}_${ALNUM}{59}`],
  ...['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glcbt-', 'glsoat-', 'glft-', 'glimt-', 'gloas-'].map(
    (prefix): Row => ['GitLab', prefix, `[A-Za-z0-9_.-]{19,299}${ALNUM}`],
  ),
  ['GitLab', 'glagent-', `${URL_SAFE}{50}`],
  ...['xoxb-', 'xoxp-', 'xoxa-', 'xoxo-', 'xoxr-', 'xoxs-', 'xoxe-'].map(
    (prefix): Row => ['Slack', prefix, '\\d[A-Za-z0-9-]{20,250}'],
  ),
  ['Slack', 'xapp-', `\\d-[A-Z0-9]{8,16}-\\d{8,16}-${HEX}{40,80}`],
  ...['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'].map((prefix): Row => ['Stripe', prefix, `${ALNUM}{10,247}`]),
  ['Stripe', 'whsec_', `${BASE64}{24,80}={0,2}`],
  ['npm', 'npm_', `${ALNUM}{36}`],
  ['PyPI', 'pypi-AgEIcHlwaS5vcmc', `${URL_SAFE}{50,250}`],
  ['RubyGems', 'rubygems_', `${HEX}{48}`],
  ['crates.io', 'cio', `${ALNUM}{32}`],
  ['Docker', 'dckr_pat_', `${URL_SAFE}{27}`],
  ['Docker', 'dckr_oat_', `${URL_SAFE}{32}`],
  ['Twilio', 'SK', `${HEX}{32}`],
  ['SendGrid', 'SG', `\\.${URL_SAFE}{22}\\.${URL_SAFE}{43}`],
  ['Mailgun', 'key-', `${HEX}{32}`],
  ['Brevo', 'xkeysib-', `${HEX}{64}-${ALNUM}{16}`],
  ...['shpat_', 'shpca_', 'shppa_', 'shpss_'].map((prefix): Row => ['Shopify', prefix, '[0-9a-fA-F]{32}']),
  ['Square', 'sq0atp-', `${URL_SAFE}{22}`],
  ['Square', 'sq0csp-', `${URL_SAFE}{43}`],
  ['Linear', 'lin_api_', `${ALNUM}{40}`],
  ['Notion', 'ntn_', `${ALNUM}{40,50}`],
  ['Notion', 'secret_', `${ALNUM}{43}`],
  ['Grafana', 'glsa_', `${ALNUM}{32}_[0-9a-fA-F]{8}`],
  ['Grafana', 'glc_', `${BASE64}{32,400}={0,2}`],
  ['Sentry', 'sntrys_', `[A-Za-z0-9+/=_-]{50,400}`],
  ['Sentry', 'sntryu_', `${HEX}{64}`],
  ['Postman', 'PMAK-', `${HEX}{24}-${HEX}{34}`],
  ['Figma', 'figd_', `${URL_SAFE}{40,60}`],
  ['Atlassian', 'ATATT3', `[A-Za-z0-9_=-]{100,240}`],
  ['Doppler', 'dp', `\\.(?:pt|st|ct|sa|scim|audit)\\.(?:[a-z0-9_-]{2,35}\\.)?${ALNUM}{40,44}`],
  ['New Relic', 'NRAK-', '[A-Z0-9]{27}'],
  ['Dynatrace', 'dt0c01', '\\.[A-Z0-9]{24}\\.[A-Z0-9]{64}'],
  ['Airtable', 'pat', `${ALNUM}{14}\\.${HEX}{64}`],
  ['Facebook', 'EAACEdEose0cBA', `${ALNUM}{20,250}`],
  ['Telegram', '', `\\d{8,10}:AA${URL_SAFE}{33}`],
]

/** All formats; of two with the same beginning the more special one comes first. */
export const KEY_FORMATS: readonly KeyFormat[] = [
  ...formatsOf('api_key', API_KEYS),
  ...formatsOf('cloud_key', CLOUD_KEYS),
  ...formatsOf('token', TOKENS),
]

function formatsOf(kind: Kind, rows: readonly Row[]): KeyFormat[] {
  return rows.map(([issuer, prefix, rest]) => ({ issuer, kind, prefix, rest }))
}
