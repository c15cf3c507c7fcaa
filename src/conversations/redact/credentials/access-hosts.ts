/** Hosts whose links grant access to anyone who has them: attachments, file shares, recordings, invitations. Data for `access-links.ts`. */

const ANY = /^\//;

/**
 * Hosts, with the public start of a path. Everything after it, including query and fragment, is the key to the file. A
 * host matches its subdomains too: `zendesk.com` matches `acme.zendesk.com`. Based on each vendor's examples of
 * attachment and share links. Documentation, issue and product pages on the same hosts do not match.
 */
export const ACCESS_HOSTS: Readonly<Record<string, RegExp>> = {
  // Helpdesks
  'zendesk.com zdassets.com':
    /^\/(?:attachments|(?:hc|api)\/[\w./-]{0,60}?attachments|sc\/attachments|voice|system\/photos)\//,
  'zdusercontent.com zendeskusercontent.com': ANY,
  'intercomcdn.com intercomcdn.eu intercomusercontent.com': /^\/(?:i\/)?(?:o\/)?/,
  'intercom-attachments.com intercom-attachments.eu': ANY,
  'intercom.com intercom.io': /^\/(?:attachments|a\/[\w./-]{0,60}\/attachments|uploads)\//,
  'freshdesk.com freshservice.com freshworks.com freshchat.com freshcaller.com':
    /^\/(?:(?:data\/)?helpdesk\/(?:attachments|tickets\/[\w./-]{0,40}attachments)|attachments|inline\/attachment|data\/helpdesk|public\/tickets|support\/(?:attachments|multiple_attachments)|api\/[\w./-]{0,20}attachments)\/?/,
  'attachment.freshdesk.com attachment.freshservice.com attachment.freshworks.com': /^\/(?:inline\/attachment)?/,
  'helpscout.net helpscoutdocs.com': /^\/(?:file|attachments?)\//,
  'frontapp.com frontusercontent.com front.com':
    /^\/(?:api\/[\w./-]{0,60}(?:attachments|download)|attachments|public\/(?:download|attachments))\/?/,
  'uploads.gorgias.io attachments.gorgias.help uploads.gorgi.us attachments.helpshift.com storage.crisp.chat storage.re-amaze.com uploads.drift.com driftt.imgix.net files.kustomerapp.com uploads.kayako.com attachments.uservoice.com files.groovehq.com attachments.liveagent.com desk.zohopublic.com':
    ANY,
  'zoho.com zoho.eu zoho.in zohodesk.com zohopublic.com zohoexternal.com':
    /^\/(?:support\/[\w./-]{0,60}attachments|(?:file|external|folder|docs?|writer|sheet|show)\/|downloadAttachment|portal\/api\/[\w./-]{0,60}content)/,
  'hubspotusercontent00.net hubspotusercontent10.net hubspotusercontent20.net hubspotusercontent30.net hubspotusercontent40.net hubspotusercontent-na1.net hubspotusercontent-eu1.net':
    /^\/(?:hubfs\/)?/,
  'hubspot.com hubapi.com hubspot.net':
    /^\/(?:file-preview|filemanager\/api\/[\w./-]{0,60}signed-url|form-integrations\/[\w./-]{0,60}signed-url-redirect|files\/[\w./-]{0,60}signed-url)\/?/,
  'salesforce.com force.com documentforce.com salesforce-sites.com site.com':
    /^\/(?:[\w-]{1,40}\/)?(?:sfc\/|servlet\/servlet\.(?:FileDownload|ImageServer|shepherd)|file-asset\/|content\/session)/,
  // Issue trackers and chat
  'atlassian.net jira.com':
    /^\/(?:secure\/(?:attachment|thumbnail)|rest\/api\/\d\/attachment\/(?:content|thumbnail)|rest\/servicedesk(?:api)?\/[\w./-]{0,80}attachment|wiki\/download\/(?:attachments|thumbnails)|servicedesk\/customershim\/secure\/attachment)\//,
  'api.media.atlassian.com media.staging.atl-paas.net media-cdn.atlassian.com': ANY,
  'uploads.linear.app public.linear.app files.slack.com slack-files.com files.slack-edge.com media.monday.com file.notion.so clickup-attachments.com asanausercontent.com productboard-attachments.com shortcut-attachments.com media.clubhouse.io cdn.discordapp.com media.discordapp.net':
    /^\/(?:attachments\/|files-(?:pri|tmb)\/|f\/)?/,
  'prod-files-secure.s3.us-west-2.amazonaws.com trello-attachments.s3.amazonaws.com files.readme.io.s3.amazonaws.com':
    ANY,
  'slack.com': /^\/(?:files\/|t\/[\w-]{1,60}\/shared_invite\/|shared_invite\/)/,
  'join.slack.com': /^\/(?:t\/[\w-]{1,60}\/)?(?:shared_invite|signup)\/?/,
  'discord.com discordapp.com': /^\/(?:api\/(?:v\d+\/)?webhooks|attachments)\//,
  'trello.com': /^\/(?:1\/cards\/|invite\/|[bc]\/\w{8}\/\w{20,})/,
  'asana.com': /^\/(?:app\/asana\/-\/(?:get_asset|download)|-\/invite)/,
  'monday.com': /^\/(?:protected_static|resources)\//,
  'webhook.office.com outlook.office.com outlook.office365.com':
    /^\/(?:webhook(?:b2)?|IncomingWebhook|owa\/(?:service\.svc\/s\/GetFileAttachment|attachment|calendar)|mail\/[\w./-]{0,40}attachment|bookwithme)\/?/i,
  'attachments.office.net attachment.outlook.live.net attachments.office365.us attachment.outlook.office.net':
    /^\/(?:owa\/)?/,
  'outlook.live.com': /^\/(?:owa\/(?:attachment|service\.svc)|mail\/[\w./-]{0,40}attachment)/,
  'teams.microsoft.com teams.live.com': /^\/(?:l\/meetup-join|meet|l\/team|api\/mt)\//,
  'zoom.us zoom.com zoomgov.com': /^\/(?:j|rec|w|s|my|launch|meeting|recording|webinar\/register)\//,
  'meet.google.com': /^\/(?=[a-z]{3}-[a-z]{4}-[a-z]{3})/,
  'webex.com': /^\/(?:[\w-]{1,40}\/)?(?:j\.php|m\/|recordingservice|ldr\.php|meet\/|wbxmjs\/)/,
  'chat.whatsapp.com signal.group': ANY,
  't.me telegram.me': /^\/(?:joinchat\/|\+)/,
  // Forges
  'github.com':
    /^\/(?:user-attachments\/(?:assets|files)\/|[\w.-]{1,60}\/[\w.-]{1,100}\/(?:assets\/\d{1,20}\/|files\/\d{1,20}\/))/,
  'user-images.githubusercontent.com private-user-images.githubusercontent.com objects.githubusercontent.com release-assets.githubusercontent.com media.githubusercontent.com pipelines.actions.githubusercontent.com results-receiver.actions.githubusercontent.com objects-origin.githubusercontent.com':
    ANY,
  'raw.githubusercontent.com codeload.github.com': /^\/[^?\s]{1,400}\?(?=token=)/,
  // Google
  'drive.google.com':
    /^\/(?:a\/[\w.-]{1,60}\/)?(?:file\/(?:u\/\d\/)?d\/|open\?id=|uc\?|drive\/(?:u\/\d\/)?(?:folders\/|mobile\/)|folderview\?id=|thumbnail\?|embeddedfolderview\?|viewerng)/,
  'docs.google.com sheets.google.com slides.google.com':
    /^\/(?:a\/[\w.-]{1,60}\/)?(?:document|spreadsheets|presentation|forms|drawings|file|videos|uc|gview|viewer)\/?(?:u\/\d\/)?(?:d\/(?:e\/)?|\?)/,
  'forms.gle photos.app.goo.gl googleusercontent.com drive.usercontent.google.com':
    /^\/(?:attachment\/|download\?id=)?/,
  'mail.google.com': /^\/mail\/(?:u\/\d\/?)?(?=[?#]|.*attid)/,
  'photos.google.com': /^\/(?:share|u\/\d\/photo|photo|album)\//,
  'calendar.google.com': /^\/calendar\/(?:ical|u\/\d\/appointments|appointments|embed|event|b\/\d)/,
  'colab.research.google.com': /^\/drive\//,
  'script.google.com': /^\/(?:a\/[\w.-]{1,60}\/)?macros\/s\//,
  'lookerstudio.google.com datastudio.google.com': /^\/(?:u\/\d\/)?(?:reporting|embed|s)\//,
  'chat.google.com': /^\/(?:room|dm|api)\//,
  // File shares
  'dropbox.com': /^\/(?:s|scl\/f[io]|sh|t|l|sm|request|transfer|paper|pri|preview|temp_thumb_from_token|home)\//,
  'paper.dropbox.com': /^\/doc\//,
  'dropboxusercontent.com db.tt 1drv.ms onedrive.live.com storage.live.com api.onedrive.com we.tl gofile.io file.io transfer.sh filebin.net fromsmash.com swisstransfer.com filemail.com sendspace.com mediafire.com sendgb.com wormhole.app send.vis.ee tmpfiles.org catbox.moe share.icloud.com yadi.sk pan.baidu.com share.weiyun.com pcloud.link my.pcloud.com cloud.mail.ru mega.nz mega.co.nz boxcloud.com wetransfer.net ln5.sync.com cl.ly d.pr getcloudapp.com zight.com prnt.sc snipboard.io monosnap.com gyazo.com take.ms recordit.co nimb.ws joxi.ru droplr.com screencast.com':
    /^\/(?:s\/|d\/|f\/|i\/|file\/|download\/|t-)?/,
  'wetransfer.com': /^\/(?:downloads|previews|transfers)\//,
  'sharepoint.com sharepoint.cn sharepoint.us sharepoint.de':
    /^\/(?::\w:\/|personal\/|(?:sites|teams)\/[\w.-]{1,80}\/(?:_layouts|Shared(?:%20)?|Freigegebene|Documents)|_layouts\/)/,
  'box.com': /^\/(?:s|shared\/static|file|folder|v|embed\/s)\//,
  'egnyte.com sharefile.com sharefile.eu citrixdata.com': /^\/(?:dl|fl|d-|share|d\/s|d\/|share\/view)\/?/,
  'icloud.com': /^\/(?:iclouddrive|attachment|photos|sharedalbum|keynote|pages|numbers|notes|invites)\/?/,
  'disk.yandex.ru disk.yandex.com disk.360.yandex.ru': /^\/(?:d|i|a|public|client)\/?/,
  'quip.com': /^\/(?:-\/blob\/|(?=[A-Za-z0-9]{12}(?:\/|$)))/,
  // Recordings, screenshots and boards
  'loom.com useloom.com': /^\/(?:share|embed|i|v|looms\/share|edit)\//,
  'cdn.loom.com luna.loom.com': ANY,
  'vidyard.com wistia.com wistia.net bonjoro.com': /^\/(?:watch|share|medias|embed\/(?:iframe|medias))\/?/,
  'vimeo.com': /^\/(?=\d{6,12}\/[0-9a-f]{8,})/,
  'jam.dev screenrec.com fathom.video grain.com fireflies.ai otter.ai tldv.io claap.io gong.io chorus.ai marker.io bugherd.com usersnap.com birdeatsbug.com berrycast.com komododecks.com tella.tv descript.com veed.io supademo.com scribehow.com tango.us arcade.software fullstory.com logrocket.com hotjar.com smartlook.com mouseflow.com':
    /^\/(?:c|s|share|calls?|recordings?|view|u|app\/meetings|shared|embed|watch|ui|sessions?|session-replay|playback)\//,
  'figma.com': /^\/(?:file|design|proto|board|slides|buzz|make|files\/team|team_invite)\//,
  'miro.com': /^\/(?:app\/board|welcomeonboard|app\/live-embed|app\/embed)\//,
  'airtable.com': /^\/(?:(?:app\w{10,20}\/)?(?:shr|inv|tbl|pag)|embed\/|invite\/|app\w{10,20}\/)/,
  'canva.com': /^\/(?:design|brand\/join|folder)\//,
  'lucid.app lucidchart.com whimsical.com mural.co excalidraw.com tldraw.com coda.io':
    /^\/(?:lucidchart\/|lucidspark\/|documents\/|invitations?\/|t\/|#json=|#room=|r\/|s\/|d\/)/,
  'notion.so notion.site': /^\/(?:signed|image|f|invite|teamspace\/invite)\//,
  'typeform.com jotform.com surveymonkey.com':
    /^\/(?:to\/\w{1,20}#|uploads?\/|forms\/files\/|responses\/files\/|results\/|submission\/)/,
  'docusign.net docusign.com hellosign.com pandadoc.com adobesign.com echosign.com signnow.com dropboxsign.com':
    /^\/(?:signing|member\/|documents?\/|sign\/|public\/|s\/|d\/|p\/|file\/)/i,
  'stripe.com': /^\/(?:i\/acct_|acct_|receipts\/|p\/login\/|b\/|invoices?\/|c\/pay\/|pay\/cs_|p\/session\/|gp\/)/,
  'calendly.com': /^\/(?:cancellations|reschedulings|invitees|url)\//,
  'list-manage.com mailchi.mp sendgrid.net mandrillapp.com mailgun.org hubspotlinks.com hubspotemail.net mjt.lu rs6.net exacttarget.com awstrack.me cmail19.com createsend.com intercom-mail.com intercom-clicks.com customeriomail.com klclick.com sparkpostmail.com safelinks.protection.outlook.com urldefense.com urldefense.proofpoint.com':
    /^\/(?:ls\/click|wf\/open|ss\/c|track\/(?:click|open)|e\/c|c\/|e\/|v3\/__|v2\/url|vip\/|\?url=|unsubscribe|profile|u\/click)/,
};
