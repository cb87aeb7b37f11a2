"""The words by which people say that it is good, agree, and go on from it; in many languages the commonest ones."""

from __future__ import annotations

from pastchats_memory.episodes.outcome.episode import Pattern

RELIEVED = Pattern(
    r"""
    \b(?:crash(?:es)?|errors?|bugs?|warnings?|problems?|issues?|leaks?|lag|flicker\w*|failures?)
        \ (?:is|are|has|have|went)\ (?:now\ |all\ )?(?:gone|away|fixed|solved|resolved|disappeared|vanished)\b
    |\bno\ (?:more\ )?\w+\ (?:anymore|any\ more|any\ longer)\b
    |\bno\ (?:more\ )?(?:problems?|issues?|errors?|crash(?:es)?|failures?|complaints)\ (?:since|so\ far|at\ all)\b
    |问题(?:都|已经?|已)?解决了?(?![吗没\w?？])|\A已经?(?:解决|修复|正常)了?(?![吗\w?？])|解決しました|(?:문제가\ )?해결(?:됐|되었)
    |\b(?:problema|erro|error)\ (?:se\ ha\ |foi\ )?(?:resolvido|resuelto|solucionado|corregido|corrigido)\b|\bproblème\ (?:est\ )?résolu
    |\bproblem\ (?:ist\ )?(?:gelöst|behoben)\b|проблема\ (?:решена|ушла)|\bmasalah(?:nya)?\ (?:sudah\ )?(?:selesai|teratasi)\b
    |\bđã\ (?:được\ )?(?:giải\ quyết|sửa\ xong)|\bsorun\ çözüldü
    |\bwithout\ (?:a|any)\ (?:single\ )?(?:crash|error|problem|hitch|issue|failure|hiccup|warning)\w*\b"""
)
"""The trouble is over."""
NOW_GOOD = Pattern(
    r"""
    \b(?:works|working|fine|ok|green|good|passes|fixed)\ now\b|\bnow\ (?:it\ )?(?:works|passes|runs)\b|\bthen\ green\b
    |[,.!]\s*(?:great|thanks|thank\ you|thx|perfect)\W*\Z"""
)
"""However it began, in the end it is good."""
THANKED = Pattern(
    r"""
    \A\W*[👍🎉🚀💯✅❤🙏🙌👏]
    |[,.!，。、]\s*(?:
        great|thanks|thank\ you|thx|perfect|nice|cheers|awesome|obrigad[oa]|gracias|merci|danke|спасибо|grazie|谢谢
        |ありがとう(?:ございます)?|고마워|감사합니다
    )[\s.!:)。！]*\Z
    |[,.!]\s+(?:thanks|thank\ you|thx|cheers)(?:\ a\ lot|\ so\ much|\ man)?\s*[.!](?!\W*\bbut\b)
    |[.!,]\s+(?:and\ )?(?:merged|shipped|closing(?:\ (?:it|this))?)\W*\Z
    |\A\W*very\ well(?=\s*[.!]|\W*\Z)
    |\A\W*green\ (?:on|in|now|again|everywhere|across)\b|\bworks?\ again\b
    |\bexactly\ what\ i\ (?:wanted|needed|asked\ for|meant|was\ looking\ for)\b
    |\A\W*(?:(?:ok(?:ay)?|yes|ah+|oh)[\s,.]+)?(?:that(?:'s|\ is)\ |it(?:'s|\ is)\ |now\ it(?:'s|\ is)\ )?
        (?:much|way|a\ lot|so\ much)\ (?:better|nicer|cleaner|faster)\b
    |\A\W*(?:finally|at\ last|hooray|hurray|yay|bingo|voil[àa]|sweet|it(?:'s|\ is)\ alive)\W*\Z
    |\byou(?:'re|\ are)\ (?:a\ |an\ |the\ )?(?:wizard|magician|lifesaver|life\ saver|legend|genius|hero|best|star|amazing|awesome)\b
    |\byou\ rock\b
    |\A\W*(?:
        (?:ok(?:ay)?|yes|yep|yup|cool|a+h+|oh|this\ is|that\ is|that's|that|it's|it|looks?|really|very|so|wow|well)
            [\s,.!]+
    ){0,3}(?:
        (?:it|that|this)\ (?:\w+ly\ |now\ |does\ |did\ )?work(?:s|ed)?(?!\ (?:before|until|yesterday|previously))|thanks|thank\ you|thx|ty\b|great|perfect
        |awesome|exe?c?el+[ea]nt|nice|amazing|lovely|beautiful|fantastic|brilliant|wonderful|love\ it|good|cheers|helpful
        |works|worked|it\ works|working|fixed|solved|merged|shipped|deployed|done|lgtm|agreed|approved|ship\ it
        |commit|push|merge|i\ (?:like|love)|now\ i(?:'ve|\ have)?\ got\ it|makes\ sense|well\ done|спасибо|отлично
        |супер|работает|заработало|дякую|чудово|працює|danke|perfekt|super|klappt|funktioniert\b(?!\ nicht)|passt
        |gracias|perfecto|funciona|genial|merci|parfait|ça\ marche|obrigad[oa]|deu\ certo|perfeito|grazie|perfetto
        |dzięki|bedankt|teşekkür|谢谢|完美|很好|不错|太好了|搞定|ありがとう|完璧|動きました|できました|고마워|감사|완벽
    )(?=[\s,.!:;，。、！—-]|$)
    |\A\W*(?:(?:non|oui|ok|sim|sí|si|ya|ja|sudah)[\s,]+)?(?:
        (?:on\ est\ revenu\ |c'est\ |ça\ )(?:maintenant\ )?(?:c'est\ )?(?:bon|parfait|nickel|mieux)|top\b|nickel
        |ótimo|excelente|muy\ bien|funcionou|funcionó|listo\b|vale\b|sehr\ gut|läuft|mantap|bagus|berhasil|sip\b
        |terima\ kasih|makasih|sudah\ (?:bisa|jalan|benar|oke)|(?:这次|现在|终于|目前|上面|都|全部|已经?){0,3}(?:可以|好|成功|正常|跑通|通过)了(?![吗么嘛没?？])|没问题|いいですね|いい感じ|できた|素晴らしい|直りました|좋아요|됐어
        |잘\ 됩니다|cảm\ ơn|được\ rồi|ổn\ rồi|tuyệt|teşekkür|harika|süper|mükemmel|oldu\b|شكرا|ممتاز|رائع|ممنون|مرسی
        |عالی|धन्यवाद|dzięk\w+|dziala|działa
    )
    |\A(?:[^\W\d]+[\s,!]+){0,4}?(?:beautiful|gorgeous|amazing|lovely|stunning|fantastic)(?=[\s,.!]|$)
        (?!\s(?:if|when|to\s))
    |\b(?:works|worked|working)\ (?:fine|now|great|well|perfectly|as\ expected|like\ a\ charm)\b
    |\bnow\ (?:it|everything|that)\ works\b|\bseems\ to\ work\b|\bthat\ (?:did|was)\ it\b
    |\bthat(?:'s|\ is)\ the\ one\b|\bi\ (?:can\ )?(?:see|get)\ (?:it|them|that|those)\ now\b|\bup\ and\ running\b
    |\b(?:runs?|builds?|loads?|starts?|compiles|deploys?)\ (?:fine|now|again|great|perfectly|cleanly)\b|\bgeklappt\b
    |\b(?:geht|läuft)\ (?:jetzt|wieder)\b|\bconfirmed\b|\b(?:did|does)\ the\ trick\b|\bnailed\ it\b
    |\A\W*(?:good|great|nice)\ (?:find|catch|call|point|idea|one)\b
    |\A\W*(?:(?:ah+|oh|ok(?:ay)?|yes|hm+)[\s,.!]+){0,2}you(?:'re|\ are)\ (?:absolutely\ |totally\ |completely\ )?
        right\b
    |\b(?:is|are)\ back\ (?:up|online|to\ normal)\b
    |(?<!how\ )\b(?:(?:everything|all\ tests|all)\ (?:still\ |now\ )?|(?:it|they)\ (?:still\ |now\ ))
        (?:builds?|pass(?:es)?|runs?|works?)\b(?!\ (?:not|for\ the))
    |\b(?:ci|build|pipeline|tests?|everything|all)\ (?:is|are|has\ been|went|came\ back|turned)\ (?:all\ )?green\b
    |\bno\ more\ (?:errors?|warnings?|crashes|failures|complaints)\b
    |\A\W*(?:that|this|it|these|those|all|everything)\ (?:\w+\ )?(?:is|are|looks?|sounds?|seems?)
        \ (?:very\ |really\ |all\ )?(?:good|great|fine|perfect|awesome|nice|interesting)\b
    |[.!,\n]\s+(?:and\ |so\ |yes,?\ )?(?:that|this)\ worked(?=\W*$|[.!,]|\ (?:and|so)\b)
    |[.!\n]\s+(?:ship\ it|lgtm|good\ job|well\ done|great\ work)\b
    |\A(?![^.?!\n]*\b(?:if|or|whether|sure|check|think|unless|until|once|when|not|should|that|what|which)\b)
        [^.?!\n]{1,100}\b(?:is|are|was|were|came\ out|turned\ out)\ (?:now\ |all\ |still\ )?
        (?:right|correct|great|perfect|excellent|amazing|delicious)
        (?:\ (?:now|again|on\ (?:both|all)\ \w+(?:\ \w+){0,4}))?(?=\W*$|[.!])
    |\b(?:it|that)\ (?:fixed|solved|did)\ (?:it|the)\b|\bthis\ is\ (?:a\ )?(?:useful|helpful|great|perfect)\b"""
)
DID = Pattern(
    r"""
    \A\W*(?:(?:ok(?:ay)?|yes|yep)[\s,.]+)?(?:
        done
        |i(?:'ve|\ have)?\ (?:did|done|added|installed|ran|run|updated|changed|set|created|pushed|merged|committed)
        |pushed|merged|committed
    )\b(?![^\n]*\b(?:works?|worked|thanks?|great|perfect|fixed)\b)"""
)
"""The person did what was asked of them, which is no praise."""
AGREED = Pattern(
    r"""
    \A\W*(?:
        y(?=,|\W*\Z)|yes|yep|yup|yeah|sure|ok|okay|alright|all\ right|correct|right|exactly|sounds\ good|looks\ good
        |got\ it|gotcha|understood|makes\ sense|fine|да|ага|так|ja|genau|sí|si|claro|oui|sim|可以|好的?|行|对|はい|네
    )(?=[\s,.!:;，。、！—-]|$)"""
)
PICKED = Pattern(
    r"""
    \A\W*(?:(?:(?:let's\ |i(?:'d|\ would|\ will|'ll)?\ )?(?:go\ with|take|pick|choose|prefer)|it's|option|number|variant)\ )*
        (?:
            (?-i:[A-F]|[b-f])[\])]?(?=\W*\Z|[,:;]\s)
            |(?:[1-9]|(?:the\ )?(?:first|second|third|fourth|last|latter|former)(?:\ (?:one|option))?|both|all\ of\ them)(?=\W*\Z)
        )"""
)
"""Which one of what was offered; `a` alone is an article."""
COMMITS = Pattern(
    r"""
    \A\W*(?:(?:ok(?:ay)?|now|great|please|and|then|let's)[\s,.!]+){0,2}(?:
        /?(?:run\ )?git\ (?:add|commit|push|merge)\b|/commit\b
        |commit\ (?:it|this|that|your|the|and|all|everything|these)\b|push\ (?:it|this|that|to)\b
        |merge\ (?:it|this)\b|@\w+\ commit\b|(?:create|open|make)\ (?:a|the)\ (?:pr|pull\ request)\b
    )"""
)
GO = Pattern(
    r"""
    \A\W*(?:(?:ok(?:ay)?|yes|so|great|please)[\s,.]+){0,2}(?:
        continue|proceed|go\ (?:on|ahead|for\ it)|keep\ going|carry\ on|resume|do\ (?:it|that|this|so)
        |make\ (?:that|this|those|these)\ changes?|start
        |(?:fix|implement|apply)\ (?:it|that|this|them|these|those|both|all)|продолж\w+|weiter|继续|开始|続けて
    )\b"""
)
"""A go, which a plan waits for and an unfinished answer too."""
DO_THAT = Pattern(
    r"""
    \A\W*(?:(?:ok(?:ay)?|yes|please|great|so|then)[\s,.]+){0,2}(?:go\ ahead\ and\ )?(?:
        (?:do|apply|implement|make|patch)\ (?:
            (?:all\ (?:of\ )?)?(?:that|this|it|them|those|these)|the\ (?:change|fix|patch|edit)s?
        )
        |applique[rz]?|fais(?:-le|\ (?:tout\ )?(?:ça|cela))|mets\ (?:ça|cela)\ en\ place|hazlo|hacelo|apl[ií]calo
        |haz\ (?:eso|todo)|faça\ isso|aplique|mach\ das|setz\ das\ um|lakukan|terapkan|сделай\ (?:это|так)|применяй?
        |зроби\ це|(?:就|按)\S{0,4}(?:这样|你说的)|执行吧|实施|それで|実装して|適用して|그렇게\ 해
    )\b"""
)
"""The person wants done what was answered."""
BUILT_ON = Pattern(
    r"""
    \A\W*(?:(?:and|ok|okay|so|great)[\s,.]+)?(?:
        now|next(?!\ time)|then|also|(?:let's|lets|let\ us)(?!\ not)|can\ you\ (?:also|now)|please\ also
        |implement\ the|write\ (?:this|it|that)|delete\ them|теперь|дальше|jetzt|ahora|maintenant|agora|现在|接下来|然后|次に
    )(?=[\s,.!:;，]|$)
    |\b(?:a\ similar|the\ same)\ (?!error|problem|issue|mistake|thing\ happen)\w+|\A(?:帮我|完成)"""
)
