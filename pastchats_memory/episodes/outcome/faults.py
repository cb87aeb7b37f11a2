"""The words by which people find fault with what was done, take it back, or doubt it; in many languages the commonest ones.

Alternatives are parted by bars, one language after the other; which of them counts where is said in `next_words`.
"""

from __future__ import annotations

from pastchats_memory.episodes.outcome.episode import Pattern

UNDONE = Pattern(
    r"""
    ^[!/](?:undo|rewind)\b
    |\A\s*[!/]?(?:run\ )?(?:undo|rewind|revert|rollback)\b(?!
        \ (?:button|feature|function|command|stack|support|history)
    )
    |\A\s*[!/$]?\s*(?:run\ )?git\ (?:checkout\ (?:--|\.|HEAD|-f)|restore\b|reset\ --hard|revert\b|stash\b)
    |\b(?:please\ |just\ |can\ you\ |let's\ )?(?:undo|revert|roll\ back|back\ out)\ (?:
        that|this|it|all|everything|your|the\ (?:last|changes?|commit|edits?)|those|these
    )\b
    |\A\W*(?:reverted|undid|undone|rolled\ (?:it\ |that\ )?back)\b
    |\b(?:throw|toss)\ (?:it|this|that|them)\ (?:away|out)\b|\bscrap\ (?:it|this|that)\b
    |\bgo\ back\ to\ (?:what|how|where|the\ (?:old|previous|original|last|earlier))\b
    |\b(?:i|we)(?:'ve|\ have)?\ (?:just\ )?(?:reverted|undid|undone|rolled\ back|backed\ out)\b
    |\b(?:i|we)(?:'ve|\ have)?\ (?:just\ )?rolled\ (?:it|that|this|them)\ back\b
    |\b(?:i|we)(?:'ve|\ have)?\ (?:just\ )?(?:fixed|solved|did|rewrote|mended|changed)\ (?:it|that|this|them)\ (?:
        myself|ourselves|by\ hand|manually
    )\b
    |(?:\A\W*|\b(?:i|we)\ )had\ to\ (?:fix|do|redo|change|rewrite|mend)\ (?:it|that|this|them|everything)\b
    |\brückgängig
    |\bannule[rz]?\ (?:ça|les)|\bdeshaz|撤销|回滚|откати|отмени\ (?:это|изменения)"""
)
STILL = Pattern(
    r"""
    \A\W*still\b(?!\ (?:work|pass|build|run|fine|good|green|ok|holds|need|want|have\ to|thinking|wait))
    |(?<!you\ )(?<!you're\ )(?<!\bare\ )\bstill\b[^.?!\n]{0,40}\b(?:
        not|broken|fail\w*|errors?|wrong|missing|crash\w*|doesn|isn|can't|cannot|nothing|stuck|happens|the\ same
    )\b
    |\bstill\ (?:get(?:ting)?|see(?:ing)?|there|no)\b
    |\b(?:does|do|did|is|was|has|have|wo|ca|can|will)(?:n't|nt|\ ?not)
        \ (?:(?:seem|appear|look)s?\ (?:like\ )?(?:to\ (?:be\ )?)?)?(?:\w+\ )?(?:
        work\w*|fix\w*|help\w*|do\ anything|change\ anything|solve\w*|run|compile|build|start|load|show|display
        |appear|open|render|respond
    )\b
    |\A\W*(?:(?:hm+|nope|no|ok|sorry)[\s,.]+)?(?:it\ |this\ |that\ |they\ |the\ \w+\ )?(?:
        doesn't|does\ not|doesnt|didn't|did\ not|didnt|won't|wont|isn't|isnt|aren't|arent
    )\ (?!
        (?:it|that|this|there|you|we|they|matter|need|have|necessar\w+|hurt|mean|sure|urgent|important|a\ problem)\b
    )\w+
    |\A\W*(?:i|we)\ (?!am\b|are\b)[^.?!\n]{1,80},\ (?:and\ |but\ )?(?:it(?:'s|\ is)\ )?still\ (?!
        work|pass|build|runs?\b|fine|good|green|ok|holds|need|want|have\ to|think|wait
    )\w+
    |\bno,?\ still\b|\bno,\ same\b|(?<!the\ )(?<!no\ )\bsame\ [45]\d\d\b|\bbut\ nothing\b|\bnothing\ (?:gets|is|was|comes|came|ever)\b
    |\b(?:is|are)(?:n't|\ not)\ (?:available|supported|recogni[sz]ed|defined|possible)\b
    |\A\W*(?:but\ )?i\ (?:
        do\ (?!not|n't|want|like|think|need|agree|prefer|love|have|hope|wonder)\w+
        |already\ (?:do|did|have|had|tried)
    )\b
    |\bstill\ (?:\d+|some|many|lots|a\ few|a\ lot|the\ same)\b
    |\A(?![^.?!\n]{0,40}(?:\byou|\bwe|\bi|'re|'m|\bare|\bam)\ still)[^.?!\n]{0,40}\bstill\ (?!
        work|runn|pass|go|think|wait|look|learn|wonder|consider|us|do|be|test|try
    )\w+ing\b
    |\b(?:it|that|this|which)(?:'s|\ is|\ looks)\ (?:exactly\ )?(?:the\ same|as)\ (?:as\ )?
        (?:before|earlier|it\ was)\b
    |\bjust\ as\ (?:much|bad|slow|often|broken|wrong)\b(?!\ as)
    |(?<!the\ )(?<!do\ )\bsame\ thing\b(?=\W*(?:$|again|happen))
    |\bi\ (?:don't|dont|do\ not|can't|cant|cannot)\ see\ (?:any|the|it|a|an|that|them|anything)\b(?!
        [^.\n]{0,30}\b(?:point|need|reason|why|how|problems?|issues?|errors?|warnings?|harm|value|benefit)\b
    )
    |\b(?:not|isn't|aren't)\ (?:working|fixed|solved|resolved|visible|showing|loading|running)\b
    |\bsame\ (?:
        \S*error|\S*exception|problem|issue|bug|result|failure|outcome|crash|traceback|message|warning|behaviou?r
        |output
    )s?\b
    |\b(?:looks?|behaves?|acts?)\ (?:exactly\ |just\ |all\ )?the\ same\b
    |\A\W*none\ of\ (?:the|my|your|these|those|them|it|this|that)\b[^.?!\n]{0,40}\b(?:show\w*|work\w*|appear\w*|load\w*|display\w*|render\w*|open\w*|runs?)\b
    |\b(?:fail(?:s|ed|ing)?|crash(?:es|ed|ing)?|broken?|breaks|happen(?:s|ed|ing)|red|hangs?|hung)\ again\b
    |\b(?:does|do|did)\ (?:absolutely\ )?nothing\b(?!\ (?:else|but|wrong))
    |\A\W*(?:i|we)\ (?:did|have|tried|already\ did)\b[^\n]{0,60}\b(?:anyway|regardless)\b
    |\b(?:cant|can't|cannot|can\ not)\ see\ (?:it|anything|them)\b
    |\bnothing\ (?:happens|happened|changed|changes|works|shows|appears)\b|\bno\ (?:change|effect|luck|difference)\b|\A\W*no\ (?:output|sound|response)\b
    |\bhasn't\ changed\b|\bkeeps\ (?:fail|crash|gett|happen|giv|throw)\w*|\b(?:ще|ше|ещ[её])\ ?раз\b|не\ работает
    |не\ помогло|не\ исправ|вс[её]\ ещ[её]|та\ же\ ошибка|опять|ты\ зациклился|не\ працює|все\ ще|вс[еі]рівно
    |та\ ж\ помилка|то\ саме|знову|funktioniert\ (?:immer\ noch\ )?nicht|geht\ (?:immer\ noch\ )?nicht|immer\ noch
    |klappt\ nicht|gleiche[rn]?\ fehler|tut\ sich\ nichts|hilft\ nicht|stimmt\ (?:so\ )?nicht|passt\ (?:so\ )?nicht
    |(?:kommt|gibt|bekomme)\ (?:ein(?:en|e)?\ )?fehler|\A\W*(?:furt|pořád|porad|stále)\b|no\ funciona|sigue\ (?:sin|fallando|dando|igual)|mismo\ error
    |ne\ (?:marche|fonctionne)\ (?:pas|toujours)|ça\ ne\ change\ rien|toujours\ (?:pas|la\ même|le\ même|l[àa]\b)|\btj(?:r|rs|s)\ (?:l[àa]\b|pas)
    |même\ erreur|não\ funciona|ainda\ (?:não|dá)|mesmo\ erro|(?:deu|dá|dando)\ erro
    |(?:me\ )?(?:da|sale|dio)\ (?:un\ )?error|j'ai\ (?:une|toujours)\ (?:une\ )?erreur|(?:mi\ )?dà\ errore
    |выда[её]т\ ошибк|continua\ (?:dando|com|igual|não)|stesso\ errore|nadal|nog\ steeds|hâlâ|non\ funziona
    |ancora\ (?:non|lo\ stesso)|nie\ działa|werkt\ niet|çalışmıyor|(?:n'|ne\ )\w+\ (?:toujours|encore)\ pas
    |\bne\ (?:\w+\ )?(?:marche|fonctionne|s'affiche|change|compile)\w*\ (?:\w+\ )?(?:pas|rien)
    |\bencore\ (?:\w+\ )?(?:pourri|cassé|faux|mauvais|la\ même|le\ même)
    |\bn[ãa]o\ (?:est[áa]\ )?(?:funcion\w+|deu\ certo|aparece\w*|resolveu|mudou|carrega|abre)
    |\bcontinua\ (?:sem|o\ mesmo|a\ mesma)|\bno\ (?:aparece|sirve|carga|se\ ve|ha\ cambiado|compila|abre)\b
    |\btodav[ií]a\ no\b|\bse\ sigue\b|\bsigue\ \w+[aei]ndo\b
    |\b(?:aun|aún|todav[ií]a)\ (?:se|no|sigue|falla|da|tengo)\b
    |\bno\ (?:se\ )?(?:ve|arregl\w+|cambi\w+|anda|sirve)\b|\bainda\ (?:est[áa]|aparece|continua)\b
    |\bcontinua\ \w+[aei]ndo\b
    |\b(?:masih|belum|tidak|gak|ngg?ak|ga)\ (?:bisa|jalan|muncul|berfungsi|berhasil|berubah|error|sama|tampil)\b
    |\berror\ (?:lagi|nih|bro)\b|不行|没用|没有用|没(?:有)?(?:生效|效果|反应|显示)|不(?:起作用|生效|显示)|显示不出|打不开|还是(?:不|报错|有(?:问题|一个)|一样|没|记不|\ ?[45]\d\d)|还没(?:有)?(?:修|改|解决)|不工作|仍然
    |没(?:有)?(?:解决|修复|变化)|同样的(?:错误|问题)|依然|依旧|没反应|没变|動きません|動かない|まだ(?:動|エラー)|直って(?:い)?ない|変わりません|同じエラー|エラー(?:に|が)|오류가
    |안\ ?(?:돼|됩)|여전히
    |не\ (?:запускается|открывается|видно|появ\w+|получилось|грузит\w*|отображ\w+|меняется|сработал\w*)
    |так\ и\ не\b|ничего\ не\ (?:измен|происход|меня)\w+|\bwird\ (?:\w+\ )?nicht\ (?:angezeigt|geladen|erkannt)
    |\bnon\ (?:va|si\ (?:vede|apre|carica)|carica)\b|\bdalej\ nie\b|\bten\ sam\ błąd
    |\bno\ (?:me\ )?(?:funciona|deja|sale|muestra)\b|\bn[ãa]o\ (?:est[áa]\ )?(?:carregou|mostra|salva|roda|rodou)\b
    |\bquá\ (?:xấu|tệ|chậm)\b|\bvẫn\ (?:\w+\ )?(?:lỗi|không|bị|chưa)|\bkhông\ (?:hoạt\ động|chạy|được|hiển\ thị)
    |\b(?:hala|olmadı|aynı\ hata|hata\ (?:verdi|alıyorum|veriyor))\b|لا\ (?:يعمل|يظهر)|(?:ما|لا)\ ?(?:زال|يزال)
    |نفس\ (?:الخطأ|المشكلة)|کار\ نمی|هنوز|काम\ नहीं|अभी\ भी|又(?:报错|出错|失败)|\A[^。！？\n]{0,20}遇到(?:了|以下|一个|个){0,2}(?:问题|错误|报错)|\A\W*(?:现在|刚才|刚刚)?(?:出错|报错|崩溃)了(?![吗么?？])|没有?(?:变|成功|出现|用处)
    |(?:直ら|変わら|表示され|動作し)(?:ない|ません)|何も(?:更新|反映|変更|表示)され(?:ていません|ていない|ない)|(?:작동|동작)하지\ 않|에러가|안\ ?되"""
)
"""It is as it was, or does not work: that was not reached, whatever the answer says."""
TROUBLED = Pattern(
    r"""
    \b(?:is|are|was|were|it's|that's|looks?|seems?|got|gets|went|goes|became|comes?\ (?:up|back)|stays?|remains?)
        \ (?:(?:now|all|just|still|always|very|a\ bit|\w+ly)\ )*(?:
        not\ (?!needed|necessary|urgent|required|important|allowed|sure|bad|a\b|the\b|so\b)\w+|missing|empty|blank
        |broken|gone|invisible|wrong|down|dead|red|failing|stuck|frozen|unreachable|unresponsive|worse|ugly|terrible
        |duplicated|cut\ off|overlapping|misaligned|undefined|null|NaN|lost|useless|incomplete
    )\b
    |\b(?:cannot|can't|cant|can\ not)\ (?!be\b|use\b|change\b|wait\b)\w+
    |\b(?:do(?:es)?|did|wo)(?:n't|nt|\ not)\ (?!need|want|have|think|know|care|mind|worry|forget|use|like|support)
        \w+
    |\b(?:
        fail(?:s|ed|ing)?|crash(?:es|ed|ing)?|hangs?|freezes|breaks|broke|errors\ out|throws|disappear(?:s|ed)?
        |vanish(?:es|ed)?|overlaps?|flickers|time[sd]\ out|keeps\ \w+ing|never\ \w+s|takes\ forever|got\ lost
    )\b
    |\b(?:i|we)(?:'m|m|\ am|'re|\ are)?\ (?:still\ |now\ |just\ |only\ )*
        (?:get|getting|got|see|seeing|have|having|hit|hitting)\ (?:
        (?:an?|the|this|these|some|lots\ of|many|another|more)[ ]
    )?(?:\w+\ ){0,2}?(?:errors?|exceptions?|[45]\d\d|failures?)\b
    |\A\W*(?:getting|got)\ (?:an?\ |this\ |these\ )?(?:\w+\ )?(?:errors?|[45]\d\d)\b
    |\bthere(?:'s|\ is|\ are|\ was)\ (?:(?:still|an?|some|lots\ of|many|another|now)\ )*(?:\w+\ ){0,2}?
        (?:errors?|problems?|issues?|bugs?|nothing)\b
    |\A\W*i\ (?:see|get)\ (?:no|nothing)\b
    |\A\W*(?:
        same|errors?|failed|timeout|nothing|blank\ \w+|white\ screen
        |not\ (?!now|yet|sure|really|necessarily|urgent|today|quite)\w+(?:\ \w+){0,3}
        |it\ (?:doesn't|does\ not|isn't|errors)
    )\W*\Z
    |\b(?:shows?|displays?|says?|prints?|returns?)\b[^.\n]{0,40}\binstead\ of\b"""
)
"""A statement of what is wrong."""
NO_TROUBLE = Pattern(
    r"""
    \A\W*(?:if|when|once|whenever|for|in|why|how|don't|do\ not|(?:i|we)\ (?:don't|do\ not|never))\b
    |\b(?:
        should|must|want|need|please|let's|works?|working|worked|fixed|better|thanks?|great|good|fine|so\ that|would
        |make\ sure|unless|no\ longer|no\ (?:problem|worries|need)
    )\b"""
)
"""What makes it a wish, a condition, a question or a relief."""
NO = Pattern(
    r"""
    \A\W*(?:(?:ok(?:ay)?|uh+|um+|hm+|well|sorry|oh|ah|lol|haha|eh|ugh)[\s,.…!-]+){0,3}(?:
        no|wrong|incorrect|dude|wtf|stop|нет|не\ то|неправильно|ні|nein|falsch|non|faux|incorrecto|errado|sbagliato
        |不对|错了|不是|違う|아니
    )(?=
        [,.!?:;—，。-]|\s*$
        |\s+(?:
            i|it|it's|that|that's|this|you|you're|we|do|don't|not|still|the|wait|on|way|dude|please|but|а|я|это|ich
            |das|es|eso|ça|c'est|il\ y\ en\ a|我|你|这|那
        )\b
    )
    |\A\W*(?:that(?:'s|\ is|\ was)|this\ is|it's|it\ is)\ (?:\w+\ )?
        (?:not|wrong|incorrect|bad|broken|terrible|garbage)\b
    |\A\W*not\ (?:true|right|correct|what)\b"""
)
BY_MISTAKE = Pattern(
    r"""
    (?:\A|[.!?,;\n])(?:(?!\byou\b)[^.!?,;\n])*\b(?:
        by\ (?:mistake|accident)|accidentally|mistakenly|didn't\ mean\ to|aus\ versehen|versehentlich|par\ erreur|sin\ querer
    )\b"""
)
"""Of the person or of nobody in particular: what the agent did by mistake it did wrong."""
FLAT_NO = Pattern(
    r"""
    \A\W*👎|\bno(?:[\s,.!]+no\b)+
    |\A\W*(?:ok(?:ay)?[\s,.]+)?(?:uh+|um+|hm+|er+)[\s,.]+no\b(?!\W*(?:problem|worries|need\b|that(?:'s|\ is)\ (?:it|all|fine|ok)|(?:it\ (?:now\ )?)?works\b|\d)|\ \w)
    |\A\W*ok(?:ay)?\.+\s+no\.(?!\s*\d)
    |\A\W*(?:(?:ok(?:ay)?|hm+|no|but)[\s,.]+)?(?:it|that|this|now\ (?:it|this|that|everything))\ (?:just\ |now\ )?(?:
        hangs|crashes|freezes|fails|breaks
    )\b
    |\A\W*(?:that|this|it\ (?:just|now))\ broke\b
    |\A\W*(?:the\ )?(?:ci|build|pipeline|tests?)\ (?:(?:is|are)\ now|went|turned)\ (?:all\ )?(?:red|failing|broken)\b
    |\A\W*(?:no\b\W+)?you\ (?:(?:just|have)\ )?(?:failed\b|did(?:n't|\ not)\ (?:do|perform|complete|follow)\b)
    |\A\W*you\ (?:just\ )?broke\b|\A\W*(?:no\W+)?that(?:'s|\ is)\ not\ it\b
    |\bi\ asked\ (?:you\ )?for\b[^.,\n]{1,60},\ not\b
    |\bwhat\ (?:the\ (?:fuck|hell|heck)|on\ earth)\ (?:are|did|have)\ you\b
    |\A[^.!?\n]{0,40}\bwrong\ (?:file|place|function|branch|line|folder|directory|repo|thing|one|page|table|column)
        \b
    |\A\W*(?:the\ )?(?:traceback|exception|error|output)\ (?:of|from|on|in)\ (?:the|my)
        \ (?:second|third|new|next|last|latest)\ (?:try|attempt|run)\b
    |\bpretty\ sure\ (?:it|that|this)(?:'s|\ is)\b
    |\A\W*(?:nope|nah)\b(?!\W*(?:all\ good|that's\ (?:it|all|fine)|thanks))|\A\W*wrong\ \w+|\bso\ no\b\W*$
    |\byou(?:'re|\ are|\ have|'ve)?\ (?:just\ |completely\ |totally\ )?(?:misunderstood|misread|missing\ the\ point)
        \b
    |\b(?:not|isn't|wasn't)\ what\ i\ (?:asked|wanted|meant|said)\b"""
)
"""Nothing of it is as it was asked for."""
TRIED_IN_VAIN = Pattern(
    r"""
    \A\W*(?:(?:ok(?:ay)?|so|i|we|i've|we've|have|just)[\s,]+){0,3}(?:
        deployed|tried|ran|tested|restarted|rebuilt|reloaded|installed|applied|launched|started|opened|clicked|executed
    )\b(?![^.?!\n]*\b(?:works?|worked|fine|pass(?:es|ed)?)\b)[^?]{1,200}?
        \b(?:it|that|this|they|everything)\ (?:just\ |all\ |then\ |still\ |now\ |immediately\ )?(?:
        f(?:alls?|ell)\ (?:over|apart)|(?:goes|went)\ down|bl(?:ows|ew)\ up|die[sd]|fr(?:eezes|oze)|locks?\ up
        |locked\ up|time[sd]\ out|crashe[sd]|hangs|hung|fails|failed|breaks|broke|stop(?:s|ped)\ working
    )\b"""
)
"""The person tried what was done, and it did not hold."""
BROKEN = Pattern(
    r"""
    \b(?:it|that|this|which|everything|you|now)\ (?:just\ |now\ |completely\ |totally\ |all\ )?(?:
        broke|breaks|fails|failed|crashe[ds]|hangs|errors?\ out|throws|messed
    )\b
    |\bbut\ (?:now\ )?it\ (?:fails|crashes|breaks)\b
    |(?<!if\ )(?<!when\ )\b(?:it|that|this|everything)(?:'s|\ is)\ (?:now\ |just\ |all\ )?
        (?:hanging|crashing|timing\ out|freezing|falling\ over)\b
    |\n\W*(?:stop|no|wait)[!,](?=\ )
    |\b(?:worked|was\ (?:fine|ok|working)|used\ to\ (?:work|be\ fine))\ (?:(?:just\ )?fine\ )?
        (?:before|until|yesterday|previously|in\ the\ (?:old|previous))\b|\bused\ to\ work\b
    |\b(?:it|that|this|which|they|everything)\ (?:just\ |all\ |then\ |immediately\ )?(?:
        f(?:alls|ell)\ (?:over|apart)|(?:goes|went)\ down|bl(?:ows|ew)\ up|dies|died|fr(?:eezes|oze)
        |lock(?:s|ed)\ up|time[sd]\ out|stop(?:s|ped)\ working
    )\b
    |\b(?:is|are|was|got)\ (?:now\ |all\ |completely\ |totally\ )?
        (?:broken|messed\ up|goofed\ up|screwed\ up|corrupted)\b
    |\b(?:
        causes?|caused|causing|gives?|gave|giving|throws?|threw|throwing|raises?|raised|produces?|produced|returns?
        |returned
    )\ (?:me\ |us\ )?(?:
        all\ sorts\ of\ |lots\ of\ |a\ lot\ of\ |a\ bunch\ of\ |an?\ |this\ |these\ |more\ |new\ |the\ following[ ]
    )?(?:\w+\ ){0,2}?(?:errors?|exceptions?|failures?|crash(?:es)?)\b
    |\b(?:now|then|but|and)\ (?:i|we)(?:'m|\ am|'re|\ are)?\ (?:get(?:ting)?|got|see(?:ing)?|hit(?:ting)?)
        \ (?:\w+\ ){0,3}?(?:errors?|exceptions?|failures?|crash(?:es)?)\b
    |\banother\ (?:error|problem|issue|mistake|bug)\b
    |\A[^.?!\n]{0,40}\b(?:errors?|exceptions?|warnings?)\ (?:
        shows?|pops?|comes?|came|appears?|appeared|occurs?|occurred|happens?|happened
    )\b
    |\b(?:seems?|looks?|appears?)\ (?:like\ |that\ )?(?:there(?:'s|\ is|\ are)\ )?(?:an?\ |some\ |still\ ){1,2}
        (?:problem|issue|error|bug)s?\b
    |\bno\ matter\ what\b
    |\bnow\b[^.?!\n]{0,60}\b(?:is|are|was|it's)\ (?:all\ |completely\ |just\ )?(?:
        gone|missing|empty|blank|broken|invisible|failing|down|dead
    )\b
    |\b(?:it's|(?:it|that|this|everything)\ (?:is|got|gets|runs)|made\ (?:it|things))\ (?:\w+\ ){0,2}
        (?:slower|worse)\b
    |\bwtf+\b
    |\b(?:is|are|it's|that's|looks?)\ (?:\w+\ )?(?:useless|terrible|awful|garbage|horrible|nonsense|rubbish)\b
    |\b(?:ci|build|pipeline|tests?|deploy\w*|prod\w*|site|server)\ (?:is|are|went|turned|goes|has\ been)
        \ (?:now\ |all\ )?(?:red|down|broken)\b
    |\b(?:shows?|says?|prints?|displays?|returns?|gives?)\ (?:me\ )?(?:only\ |just\ )?(?:
        NaN|undefined|null|nothing|garbage|blank|an?\ (?:empty|blank|white)|[45]\d\d
    )\b"""
)
OTHERWISE = Pattern(
    r"""
    (?<!oops\W)(?<!sorry\W)(?<!oops,\ )(?<!sorry,\ )\bi\ (?:meant|asked\ for|told\ you)\b|\bi\ said\b
    |\byou(?:'re|\ are)\ (?:still\ )?(?:wrong|just\ repeating|not\ listening)\b
    |\byou\ (?:still\ have|forgot|missed|ignored|skipped|overlooked|removed|deleted|broke|didn't|did\ not|haven't)\b
    |\b(?:not|isn't|wasn't)\ (?:correct|right|true|accurate)\b|\bdidn't\ (?:ask|want)\b
    |\bbut\ (?:it|that|they|the\ \w+)(?:'s|\ is|\ are|'re)?\ (?:still\ )?
        (?:not|n't|isn't|aren't|doesn't|don't|never)\b
    |\byour\ (?:changes?|edits?|fix(?:es)?|code|update|version)\b[^.,?!\n]{0,30}
        (?:n't|\bnot|\bnever|\bbroke\w*|\bfail\w*)\b
    |\b(?:read|do|did)\ what\ i\ (?:wrote|said|asked|meant|told)\b|\bare\ you\ sure\b
    |\boff\ by\ (?:one|an?|\d+|a\ few)\b
    |\A\W*(?:uh+|hm+|ok|but|wait)?[\s,.]*you\ (?:\w+ly\ |just\ )?(?!
        (?:need|asked|mentioned|suggested|wanted|noted|promised|proposed|said)\b
    )(?:\w+ed|put|left|made|broke|cut|lost|took|deleted)\b
    |\bwhere\ (?:is|are|did)\ my\b|\bthere(?:'s|\ is|\ was)\ no\ (?:need|reason)\ to\b
    |\b(?:gives?|gave|returns?|shows?|prints?)\ (?:me\ |us\ )?[^.;\n]{1,40}[.;,]\ (?:but\ )?(?:i|we)
        \ (?:need|want|wanted|expect(?:ed)?)\b
    |\blooks?\ (?:a\ bit\ |slightly\ )?(?:
        wrong|off|bad|blurry|cramped|cluttered|misaligned|empty|weird|ugly|broken|terrible|awful|strange
    )\b
    |\b(?:i|we)\ (?:don't|dont|do\ not|won't|didn't)\ want\b
    |\A\W*(?:please\ )?(?:don't|do\ not)\ (?:use|mock|change|do|add|touch|include|create|remove|delete|put|make)\b
    |\A\W*why\ (?:won't|didn't|did|don't|are|aren't|would|can't)\ you\b"""
)
"""It is otherwise than it was asked for: with work in sight, a part of it."""
CONDITION = Pattern(r"\A\W*(?:(?:and|but|ok(?:ay)?|so|well)[\s,]+)?(?:if|unless|in\ case)\b")
"""What may come about."""
HALF = Pattern(
    r"""
    \b(?:works?|worked|fixed|solved|better|closer|progress|the\ first\ (?:one|part))\b[^.\n]{0,60}\b
        (?:but|except|however)\b
    |(?<!before\ )\b(?:it|that|this)\ (?:now\ )?(?:ran|runs|works|worked|went\ through|finished)\b[^.\n]{0,60}\.\ but\ (?!
        (?:can|could|what|how|why|is|are|do|does|would|will|where|when|please|let)\b
    )
    |\bnow,?\ (?:but|except|however)\b|\bonly\ (?:works?|partly|partially|half)\b|\bpartly\b|\bpartially\b"""
)
"""One half of it works."""
PARTLY = Pattern(
    r"""
    \b(?:too|way\ too|a\ (?:little|bit)\ too)\ (?:
        much|many|big|small|thin|thick|long|short|wide|narrow|dark|light|slow|complicated|complex|verbose|wordy
        |aggressive|fast|loud|bright|close|far
    )\b
    |\bnot\ quite\b|\balmost\b[^.\n]{0,20}\bbut\b|\bshould(?:n't|\ not)\ have\b|\bshould\ have\ (?:been|done|used)\b
    |\b(?:good|great|nice|fine)\b[^.!?\n]{0,30}\bbut\b(?!
        \ (?:can|could|what|how|why|is|are|do|does|would|will|where|when)\b
    )"""
)
"""It is there, and not as it should be."""
BUT = Pattern(
    r"""
    \b(?:but|however|except|although|yet)\b|\A\W*(?:uh+|um+)\b|:\(|:-\(|\bwth\b|\bно\b|\baber\b|\bpero\b|\bmais\b|但
    |ただ"""
)
HOWEVER = Pattern(r"(?:[.!,;:\n])\s*(?:however|unfortunately)\b|[.!]\s+but\b")
"""What takes back a part of the praise before it."""
DOUBTS = Pattern(
    r"""
    \A\W*(?:
        hm+|w?oops|wait|let's\ not|actually|really\?|are\ you\ sure|why|what\ happened|what's\ wrong
        |whats\ (?:wrong|broken)|where(?:'s|\ (?:is|did|are))|(?:\d+|one|two|three|another|a\ few|some)\ more\b
        |now\ (?:this|i|it|there|that|you(?:'re|\ (?:are|have)))\b|i(?:'m|\ am)\ (?:pretty|quite|fairly)\ sure|did\ (?:you|that|it)|didn't|something|uh+|what\ are\ you\ doing|how\ come
        |(?:let's\ |let\ us\ |can\ (?:you|we)\ )?(?:try|do|use|take)\ (?:it\ |this\ )?(?:a\ |an\ )?
            (?:another|different)
        |try\ again|start\ over|never\ ?mind|forget\ (?:it|that|about)|are\ you\ (?:done|there|stuck|finished)
        |how's\ it\ going|you\ stopped|any\ (?:update|progress)|hello\?|status
    )\b
    |\bdouble[\ -]check\b|\bhay\ un\ (?:problema|error)\b|\b(?:est[áa]|es)\ (?:incorrect|incorret|vac[ií]|vazi)[oa]\b
    |\b(?:disappeared|vanished|is\ gone|got\ lost|from\ scratch|different\ approach)\b
    |\bi\ (?:don't|dont|do\ not|cannot|can't|cant)\ (?:see|find)\b|\bbroke(?:n)?\b|\bwrong\b|\bmistakes?\b|\bredo\b
    |\bfailing\b|\bdidn't\b|\bstill\b(?!\ (?:work|pass|build|run|fine|good|green|ok|holds))
    |\A[^.?!\n]{0,60}(?<!\bi)(?<!\bwe)(?<!\byou)(?<!\bthey)\ (?:doesn't|does\ not|isn't|won't|cannot|can't)\ \w
    |\b(?:finds?|found|shows?|does|gets?|got|prints?)\ nothing\b|\bnothing\ at\ all\b
    |\A\W*now\ (?:the|all|my|your|its?|these|those|some|every\w*|most|both|nothing|no)\b[^.?!\n]{0,60}\b
        (?:is|are|has|have|shows?|does)\b
    |(?:\A\W*|[.!?,:\n]\s+)(?:right\ now|currently|at\ the\ moment)\b
    |\A(?!
        [^\n]*\b(?:
            work\w*|pass\w*|good|great|fine|fixed|solved|ok|green|fast\w*|better|right|correct|done|runs?|builds?
            |see|get|got|loads?|clear\w*
        )\b
    )[^.?!,\n]{0,40}\bnow\W*\Z
    |\bthrows?\b[^.?!\n]{0,20}\b(?:[45]\d\d|an?)\b|\banymore\b
    |\A\W*(?:exits|returns|prints|shows|says|gives|outputs|logs|renders|displays|opens|goes|jumps|flickers|scrolls)
        \b
    |куда|почему|зачем"""
)
TROUBLE = Pattern(
    r"""
    (?<!\bno\ )(?<!\bno\ more\ )(?<!\bany\ )(?<!without\ )\b(?:
        errors?|crash\w*|fail(?:s|ed|ures?)?|problems?|issues?|bugs?|weird|strange|unexpected\w*
    )\b
    |ошибк|помилк|fehler|erreur|错误|报错|エラー|오류"""
)
"""Words of trouble: in the first line they may be about what was done."""
UNEASY = Pattern(
    r"""
    \b(?:errors?|exceptions?|crash\w*|fail\w*|problems?|issues?|bugs?|fix\w*|broken|st+il+|stll|refused|unable)\b"""
)
"""Words of trouble anywhere in what was said."""
YET = Pattern(
    r"""
    (?<!you\ )(?<!you're\ )\bstill\b(?!
        \ (?:work|pass|build|run|fine|good|green|ok|holds|want|need|have\ to|remember|make|keep|be|let|allow|use)
    )"""
)
"""Something goes on."""
SARCASM = Pattern(
    r"""
    \b(?:great|nice|perfect|thanks|awesome|wonderful|brilliant)\b[^.\n]{0,30}(?:
        /s\b|🙄|\banother\ (?:\w+\ )?(?:error|crash|bug|failure|problem|issue)
        |\b(?:broken?|fail\w*|crash\w*)\ again\b|\bfor\ (?:breaking|nothing|wasting)
    )
    |\bgood\ job\ breaking\b
    |\A\W*(?:(?:wow|oh|ok(?:ay)?)[\s,.!]+)?(?:
        great|nice|perfect|thanks|awesome|wonderful|brilliant|super|well\ done|good\ job
    )\b[^.\n]{0,40}\b(?:gone|slower|worse|broken|missing|empty|blank|deleted)\b"""
)
AGAIN = Pattern(
    r"""
    \A\W*(?:it|they|that|this|these|those|there)\ (?:should|must|needs?\ to|ha(?:s|ve)\ to)\b|\bactually\ work
    |\b(?:
        debug\w*|again|instead|(?:put|bring|change|switch|turn|move)\b[^.\n]{0,30}\bback|properly|correctly|even
        |supposed|fix\w*|stop|why|seem\w*|didn't|doesn't|isn't|wasn't
    )\b
    |!{2,}|다시\s*(?:해|작성|시도|만들|확인|실행)|もう一度|やり直|(?:重新|再)(?:来|做|试|写|生成)|重做|заново|передела
    |\b(?:de\ novo|novamente|otra\ vez|de\ nuevo|encore\ une\ fois|refaire|noch\ ?mal|erneut|ulangi)\b"""
)
"""A request to do it over."""
