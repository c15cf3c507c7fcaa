/**
 * What providers give their keys to be known by. Each begins where no letter or digit goes before it, and repeats
 * nothing without a bound, so that looking for it takes a time linear in the text.
 */
export const KEY_SHAPES: readonly RegExp[] = [
  // AWS
  /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  // GitHub
  /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{16,255}/g,
  /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{20,255}/g,
  // GitLab
  /(?<![A-Za-z0-9])gl(?:pat|dt|rt|ptt|ft|soat|oas|cbt|agent|imt|ffct)-[A-Za-z0-9_-]{16,255}(?:\.[A-Za-z0-9_-]{2,64}){0,3}/g,
  // Slack
  /(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{10,255}/g,
  /(?<![A-Za-z0-9])xapp-[A-Za-z0-9-]{10,255}/g,
  /(?<![A-Za-z0-9])hooks\.slack\.com\/services\/[A-Za-z0-9]{6,16}\/[A-Za-z0-9]{6,16}\/[A-Za-z0-9]{12,64}/g,
  // Stripe, and others that sign webhooks
  /(?<![A-Za-z0-9])(?:[srp]k|rk)_(?:live|test)_[A-Za-z0-9]{10,255}/g,
  /(?<![A-Za-z0-9])whsec_[A-Za-z0-9+/=]{16,255}/g,
  // Google
  /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}/g,
  /(?<![A-Za-z0-9])GOCSPX-[A-Za-z0-9_-]{20,64}/g,
  /(?<![A-Za-z0-9])ya29\.[A-Za-z0-9_-]{20,255}/g,
  // OpenAI, Anthropic
  /(?<![A-Za-z0-9-])sk-(?:[a-z0-9]{2,10}-){0,2}(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20,255}/g,
  // npm, PyPI, RubyGems
  /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,64}/g,
  /(?<![A-Za-z0-9])pypi-[A-Za-z0-9_-]{50,255}/g,
  /(?<![A-Za-z0-9])rubygems_[a-f0-9]{48}/g,
  // SendGrid, Twilio, Mailgun, Brevo
  /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}/g,
  /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9])key-[0-9a-f]{32}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9])xkeysib-[0-9a-f]{32,80}(?:-[A-Za-z0-9]{8,32})?/g,
  // Azure
  /(?<![A-Za-z0-9])[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{31,40}/g,
  // DigitalOcean, Hugging Face, Shopify, Grafana, Databricks, Vault, Linear, Notion, Telegram, age
  /(?<![A-Za-z0-9])do[opr]_v1_[0-9a-f]{64}/g,
  /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,64}/g,
  /(?<![A-Za-z0-9])shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/g,
  /(?<![A-Za-z0-9])gls?[ac]_[A-Za-z0-9_=-]{30,255}/g,
  /(?<![A-Za-z0-9])dapi[0-9a-f]{32}(?:-\d)?/g,
  /(?<![A-Za-z0-9])hv[sb]\.[A-Za-z0-9_-]{24,255}/g,
  /(?<![A-Za-z0-9])lin_api_[A-Za-z0-9]{30,64}/g,
  /(?<![A-Za-z0-9])ntn_[A-Za-z0-9]{30,64}/g,
  /(?<![A-Za-z0-9:])\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])/g,
  /(?<![A-Za-z0-9])AGE-SECRET-KEY-1[A-Z0-9]{58}/g,
  // JSON Web Token, also wrapped at the end of a line
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}(?:\s?\r?\n[A-Za-z0-9_-]{20,2000}){0,8}\s{0,2}\.\s{0,2}eyJ[A-Za-z0-9_-]{4,4000}(?:\s?\r?\n[A-Za-z0-9_-]{20,2000}){0,20}\s{0,2}\.\s{0,2}[A-Za-z0-9_-]{0,2000}(?:\r?\n[A-Za-z0-9_-]{20,2000}){0,8}/g,
];

/** A secret access key of AWS has no prefix: it is known by the access key id before it. */
export const AWS_ID = /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g;
export const AWS_SECRET = /(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/g;
/** How far behind its id a secret access key is looked for, in characters. */
export const AWS_REACH = 300;
